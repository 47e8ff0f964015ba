/* SPDX-License-Identifier: Apache-2.0 */
/* What may leave the machine: an allow-list of environment names, a rule for names that hold secrets, a scanner for
 * values, keyed pseudonyms, and a last gate over a whole document. One module decides for all tools. */
#ifndef IB_REDACT_REDACT_H
#define IB_REDACT_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "base/err.h"
#include "base/source.h"
#include "base/str.h"

/* --- names.c --- */

/* True when a variable, flag or key of this name holds a secret by its name ("HF_TOKEN", "api-key", "dbPassword");
 * names such as MAX_NEW_TOKENS, TOKENIZERS_PARALLELISM, …_TOKEN_THRESHOLD, KEY_VALUE and PUBLIC_KEY do not. */
bool ib_name_secret(const char *name, size_t n);
/* The same, but only for names that are hardly ever anything else (composite: api_key, hf_token, password …): used in
 * free text, where "key" and "session" are ordinary words. */
bool ib_name_secret_sure(const char *name, size_t n);

/* Variables whose values are recorded, and those of which only the presence is. Prefixes end with '_'; everything else is a whole name. */
#define IB_ENV_VALUES(X) \
	X("CUDA_") X("NVIDIA_VISIBLE_DEVICES") X("NVIDIA_DRIVER_CAPABILITIES") X("NCCL_") X("RCCL_") X("UCX_") X("GLOO_") \
	X("NVSHMEM_") X("HIP_") X("ROCR_") X("HSA_") X("GPU_DEVICE_ORDINAL") X("AMD_") X("MIOPEN_") X("ZE_") \
	X("ONEAPI_DEVICE_SELECTOR") X("SYCL_") X("CCL_") X("OMP_") X("GOMP_") X("KMP_") X("MKL_") X("OPENBLAS_") X("TORCH_") \
	X("TORCHINDUCTOR_") X("PYTORCH_") X("TRITON_") X("VLLM_") X("SGLANG_") X("SGL_") X("LLAMA_") X("GGML_") X("TRTLLM_") \
	X("TLLM_") X("LMCACHE_") X("FLASHINFER_") X("HF_HOME") X("HF_HUB_OFFLINE") X("HF_HUB_ENABLE_HF_TRANSFER") \
	X("TRANSFORMERS_") X("TOKENIZERS_PARALLELISM") X("MALLOC_") X("LD_PRELOAD") X("LD_LIBRARY_PATH") X("GLIBC_TUNABLES") \
	X("RAY_") X("SLURM_JOB_NUM_NODES") X("SLURM_NNODES") X("SLURM_NTASKS") X("SLURM_CPUS_PER_TASK") X("SLURM_CPUS_ON_NODE") \
	X("SLURM_GPUS") X("SLURM_GPUS_ON_NODE") X("SLURM_GPUS_PER_NODE") X("SLURM_GPUS_PER_TASK") X("SLURM_MEM_PER_NODE") X("SLURM_RESTART_COUNT") \
	X("LC_") X("LANG") X("TZ") X("PYTHONHASHSEED") X("PYTHONOPTIMIZE")
#define IB_ENV_PRESENT(X) \
	X("HTTP_PROXY") X("HTTPS_PROXY") X("ALL_PROXY") X("FTP_PROXY") X("NO_PROXY") X("http_proxy") X("https_proxy") \
	X("all_proxy") X("ftp_proxy") X("no_proxy") X("PIP_INDEX_URL") X("PIP_EXTRA_INDEX_URL") X("UV_INDEX_URL") \
	X("UV_EXTRA_INDEX_URL") X("UV_DEFAULT_INDEX") X("HF_ENDPOINT")

enum ib_env_rule {
	IB_ENV_OTHER,    /* counted, its name hashed; no value */
	IB_ENV_PRESENCE, /* proxies and index URLs: name only */
	IB_ENV_VALUE,    /* name and value, the value through ib_redact_text() */
};
/* What is recorded of an environment variable; the name rule vetoes first. */
enum ib_env_rule ib_env_rule(const char *name);

/* --- scan.c --- */

enum {
	IB_SCAN_STRICT = 1,  /* any value behind a secret name counts, however short: command lines, not logs */
	IB_SCAN_ENTROPY = 2, /* also long runs that look random: only for strings that are expected to hold words */
};

struct ib_hit {
	const char *rule; /* stable name: "github-token", "url-userinfo" … */
	size_t at, n;     /* the secret's bytes */
};

/* The first secret at or behind from. Placeholders (${NAME}, <token>, ***) and our own marks are none. */
bool ib_scan_next(const char *data, size_t n, size_t from, unsigned flags, struct ib_hit *ret);
/* Name of the first rule that finds something in a value, or NULL. */
const char *ib_scan_value(const char *s, size_t n);
#define IB_SECRET_WORDS 128
/* The same in words, "a secret (RULE)", written to words (IB_SECRET_WORDS bytes) and returned; or NULL. As struct ib_contract_options asks it. */
const char *ib_scan_words(void *words, const char *text);
/* Calls hit(arg, line, rule) for every secret in a text (lines count from 1); returns their number. */
size_t ib_scan_text(const char *data, size_t n, void (*hit)(void *arg, uint64_t line, const char *rule), void *arg);
/* The same for what a source gives, and for an open file, of any size in bounded memory. */
IB_MUST int ib_scan_source(const struct ib_source *source, void (*hit)(void *arg, uint64_t line, const char *rule), void *arg, uint64_t *ret_hits,
			   struct ib_err *err);
IB_MUST int ib_scan_fd(int fd, const char *name, void (*hit)(void *arg, uint64_t line, const char *rule), void *arg, uint64_t *ret_hits,
		       struct ib_err *err);

/* --- url.c ---
 * The URL without user information and with the values of secret query keys and path tokens (/t/TOKEN/) replaced.
 * Also the short form of ssh remotes ("git@host:path" loses "git@"). Allocated. */
char *ib_url_scrub(const char *url);

/* --- redactor.c --- */

#define IB_PSEUDONYM_LEN 17 /* 16 hex digits and a NUL */

struct ib_redactor; /* the key, the user's home, the values of secret variables */

/* scope_dir: the study's directory, whose key is used, or NULL for the machine's key. The key lies in
 * $XDG_STATE_HOME/ibtools/keys (default ~/.local/state), mode 0600, and is made on first use; it never leaves that
 * directory. Where it cannot be kept, a key for this process alone is used and ctx->log says so. */
IB_MUST int ib_redactor_new(const struct ib_ctx *ctx, const char *scope_dir, struct ib_redactor **ret, struct ib_err *err);
void ib_redactor_free(struct ib_redactor **r);
#define ib_auto_redactor __attribute__((cleanup(ib_redactor_free)))
/* A redactor with a given key, for tests. env may be NULL. */
struct ib_redactor *ib_redactor_with_key(const uint8_t *key, size_t n, char *const *env);
/* Adds the secrets of another environment (of a server, say) to what the gate looks for. */
void ib_redactor_add_env(struct ib_redactor *r, char *const *env);

/* Keyed HMAC label: equal inputs of one kind give equal labels under one key; nothing else follows from it. */
void ib_pseudonym(const struct ib_redactor *r, const char *kind, const void *data, size_t n, char ret[IB_PSEUDONYM_LEN]);

/* s with every secret replaced by "<redacted:RULE:LENGTH:LABEL>" (LABEL a pseudonym, so that two captures can be compared)
 * and the home directory by "~". Allocated. */
char *ib_redact_text(const struct ib_redactor *r, const char *s);
/* A mark for a value that a name rule withholds. Allocated. */
char *ib_redact_mark(const struct ib_redactor *r, const char *rule, const char *value, size_t n);
/* A command line: text rules, NAME=VALUE and --flag=VALUE with secret names, the argument behind a secret flag
 * (all arguments up to the next flag behind --api-key), headers. Appends one string per argument. */
void ib_redact_argv(const struct ib_redactor *r, char *const *argv, struct ib_strv *ret);

/* The last gate: IB_E_STATE, naming rule and line but never the value, when the scanner or a literal value (8 bytes or more,
 * raw or as JSON writes it) of a secret variable is found in a document. A caller writes nothing then. */
IB_MUST int ib_gate(const struct ib_redactor *r, const void *data, size_t n, const char *name, struct ib_err *err);

#endif
