/* SPDX-License-Identifier: Apache-2.0 */
/* One run: directory, ledger entries, steps, command, record. Ad-hoc mode and plan mode both call ib_run_one(). */
#ifndef IB_RUN_RUN_H
#define IB_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/ctx.h"
#include "base/err.h"
#include "model/record.h"
#include "run/child.h"
#include "run/progress.h"
#include "run/signals.h"
#include "run/study.h"

struct ib_run;

/* A step of a run (see the order at struct ib_run_steps). Returns 0, or an error whose text says what is wrong. */
typedef int ib_run_step(void *arg, struct ib_run *run, struct ib_err *err);

/* Called in this order; each may be NULL. They may write files into the run directory and fill run->record.
 * A failing step before the command makes the run "refused", with the step's name as reason and the error's text as note
 * (or "interrupted" when a signal is the cause). A failing step after it makes it "failed" or, when a signal is the
 * cause, "interrupted", likewise. */
struct ib_run_steps {
	void *arg;
	ib_run_step *ready;   /* reason "readiness" */
	ib_run_step *check;   /* "output_check" */
	ib_run_step *quiesce; /* "quiescence" */
	ib_run_step *reset;   /* "reset" */
	ib_run_step *warmup;  /* "warm_up" */
	ib_run_step *before;  /* "before": server metrics, right after before.json was taken */
	ib_run_step *after;   /* "after": server metrics, right after the command */
	ib_run_step *convert; /* "convert" */
	ib_run_step *outcome; /* "outcome": client numbers and expectations; sets reasons with ib_record_fail() */
	ib_run_step *permit;  /* "permission": the first of all */
};

struct ib_run_workload {
	const char *name, *path; /* path below the study */
	const char *sha256;      /* expected, or NULL: only recorded */
};

struct ib_contract_evidence; /* model/contract.h */

/* What the sampler asks besides the machine. */
struct ib_run_sampling {
	const struct ib_contract_evidence *evidence; /* whose URLs are asked for metrics, or NULL */
	const char *endpoint;                        /* the server's URL, or NULL: none is known */
};

struct ib_run_spec {
	const char *group, *cell; /* may be NULL */
	int repeat, attempt;      /* from 1 */
	const struct ib_var *variables;
	size_t variables_n;
	char *const *argv;           /* NULL-terminated; run-time placeholders are substituted */
	bool strict_placeholders;    /* plan: an unknown {name} is an error and "{{" is a brace; ad hoc: both stay as they are */
	const char *cache_condition; /* NULL: unspecified */
	int64_t timeout_ns;          /* 0: none */
	int64_t grace_ns;            /* between the first signal and what is harder; 0: that of the client */
	const char *client;          /* see ib-contract(5), or NULL */
	int64_t no_progress_ns;      /* end the command when nothing that it writes has grown for so long; 0: never */
	int64_t memory_bytes;        /* limit of the command and all its processes; 0: none */
	bool pty, no_network;
	const struct ib_progress *progress; /* where the plan stands, for a terminal, or NULL */
	int expected_status;         /* the command's exit status that means success */
	bool no_capture;             /* neither node capture nor before.json and after.json */
	bool no_sample;              /* the load is not sampled */
	int64_t sample_interval_ns;  /* 0: 1 s */
	struct ib_run_sampling sampling;
	const char *contract_sha256; /* of the contract's JSON form, or NULL */
	const struct ib_run_workload *workloads;
	size_t workloads_n;
	struct ib_run_steps steps;
};

/* Who looks at the command while it runs: see ib_run_watch(). */
struct ib_run_watcher {
	bool (*tick)(void *arg, int64_t now_ns);
	void *arg;
	int64_t every_ns, next_ns;
};

/* What steps see. */
struct ib_run {
	const struct ib_ctx *ctx;
	struct ib_study *study;
	const struct ib_run_spec *spec;
	const char *id, *group, *cell;
	int dir_fd;                   /* of the run directory */
	const char *dir, *output_dir; /* absolute */
	char *const *env;             /* the command's environment: ctx->env and IB_RUN_ID, IB_RUN_DIR, IB_OUTPUT_DIR */
	struct ib_signals *signals;
	int signals_seen; /* that had arrived when the command ended: only a further one ends what is asked then */
	struct ib_record *record;
	struct timespec marker;       /* just before the command, by the clock of the run directory's file system; tv_sec 0: not known */
	struct ib_strv captures;      /* digests of captures kept in the study, for the finish entry */
	struct ib_run_watcher watchers[8];
	size_t watchers_n;
	const struct ib_child_result *command; /* while the command runs: its pid; else NULL */
};

/* Makes one run from start entry to read-only directory. Returns 0 when there is a record and a finish entry, whatever
 * state it holds; *ret_record then is the record (to be cleared by the caller). An error means that the study could not
 * be written. ctx->env is the environment of the command. */
IB_MUST int ib_run_one(const struct ib_ctx *ctx, struct ib_study *study, struct ib_signals *signals, const struct ib_run_spec *spec,
		       struct ib_record *ret_record, struct ib_err *err);

/* Exit status of ib-run for a record: the command's own, 124 timed out, 125 refused, 126/127 not executed, 128+n. */
int ib_run_exit_status(const struct ib_record *record, const struct ib_signals *signals);

/* --- for steps --- */

/* Substitutes {run_id} {run_dir} {output_dir} {repeat} {group} {cell} {study_dir} and the variables. IB_E_USAGE for an unknown name when strict. Allocated. */
IB_MUST int ib_run_expand(const struct ib_run *run, const char *text, bool strict, char **ret, struct ib_err *err);
/* Runs argv (placeholders substituted, strict) to its end; stdout and stderr go to the files out and err_name below the
 * run directory. The command sees run->env and IB_HOOK=name; a server that it starts in the background lives on, and is no survivor. At
 * timeout_ns (0: none) its session is ended. Adds a hook of that name to the record. IB_E_STATE: interrupted by a signal. A command that
 * fails is no error here: see *ret. */
IB_MUST int ib_run_hook(struct ib_run *run, const char *name, char *const *argv, int64_t timeout_ns, struct ib_child_result *ret, struct ib_err *err);
/* In a step before the command: tick is called every every_ns with the awake clock while the command runs; true ends the command as a
 * timeout does. Eight at most. */
void ib_run_watch(struct ib_run *run, bool (*tick)(void *arg, int64_t now_ns), void *arg, int64_t every_ns);
/* Sleeps; IB_E_STATE as soon as a signal (INT, TERM, HUP) has arrived: the step should return it. */
IB_MUST int ib_run_sleep(struct ib_run *run, int64_t ns, struct ib_err *err);

#endif
