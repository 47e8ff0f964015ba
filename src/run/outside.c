/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line tells about what will not be seen. */
#include "run/outside.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"

/* Programs that have somebody else do the work: with this word among their arguments, or (NULL) always. */
static const struct outside {
	const char *program, *word, *where, *who;
} outside[] = {
	{"docker", "exec", "in a container", "the Docker daemon"},
	{"docker", "run", "in a container", "the Docker daemon"},
	{"docker", "start", "in a container", "the Docker daemon"},
	{"docker", "compose", "in containers", "the Docker daemon"},
	{"docker-compose", NULL, "in containers", "the Docker daemon"},
	{"podman", "exec", "in a container", "the container's monitor"},
	{"podman", "run", "in a container", "the container's monitor"},
	{"nerdctl", "exec", "in a container", "containerd"},
	{"nerdctl", "run", "in a container", "containerd"},
	{"crictl", "exec", "in a container", "the container runtime"},
	{"kubectl", "exec", "in a pod", "the cluster"},
	{"kubectl", "run", "in a pod", "the cluster"},
	{"oc", "exec", "in a pod", "the cluster"},
	{"ssh", NULL, "on another machine", "its SSH server"},
	{"srun", NULL, "on the job's nodes", "Slurm"},
	{"sbatch", NULL, "as another job", "Slurm"},
	{"mpirun", "--host", "on other machines too", "MPI's launcher"},
	{"mpirun", "--hostfile", "on other machines too", "MPI's launcher"},
	{"flux", "run", "on the job's nodes", "Flux"},
	{"systemd-run", NULL, "in a unit", "systemd"},
	{"machinectl", "shell", "in a container", "systemd"},
	{"lxc", "exec", "in a container", "LXD"},
	{"at", NULL, "later", "the at daemon"},
};

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Programs in front of the one that counts: their options and assignments are passed over. */
static bool is_front(const char *name)
{
	static const char *const fronts[] = {"env", "nohup", "time", "nice", "ionice", "setsid", "stdbuf", "sudo", "taskset", "numactl", "exec"};

	for (size_t i = 0; i < IB_LEN(fronts); i++)
		if (strcmp(name, fronts[i]) == 0)
			return true;
	return false;
}

static bool has_arg(char *const *argv, const char *word)
{
	for (; *argv; argv++)
		if (strcmp(*argv, word) == 0)
			return true;
	return false;
}

static char *look_up(char *const *argv)
{
	const char *program = base(argv[0]);

	for (size_t i = 0; i < IB_LEN(outside); i++) {
		const struct outside *o = &outside[i];

		if (strcmp(o->program, program) == 0 && (!o->word || has_arg(argv + 1, o->word)))
			return ib_asprintf("'%s%s%s' has its work done %s by %s: signals and time limits reach only this end of it, what it leaves there is "
					   "not ended, and what it uses there is not counted",
					   program, o->word ? " " : "", o->word ? o->word : "", o->where, o->who);
	}
	return NULL;
}

char *ib_outside_note(char *const *argv)
{
	while (*argv && is_front(base(*argv))) {
		argv++;
		/* "taskset -c 0-3 ssh": the word behind an option may be its value; both readings are tried */
		while (*argv && (**argv == '-' || strchr(*argv, '=') || (argv[-1][0] == '-' && argv[1] && !look_up(argv))))
			argv++;
	}
	return *argv ? look_up(argv) : NULL;
}

/* A pipe in a shell's text, outside of quotes and comments. */
static bool has_pipe(const char *s)
{
	char quote = 0;

	for (; *s; s++) {
		if (quote) {
			if (*s == '\\' && quote == '"' && s[1])
				s++;
			else if (*s == quote)
				quote = 0;
		} else if (*s == '\\' && s[1]) {
			s++;
		} else if (*s == '\'' || *s == '"') {
			quote = *s;
		} else if (*s == '|' && s[1] == '|') {
			s++;
		} else if (*s == '|') {
			return true;
		}
	}
	return false;
}

const char *ib_pipe_note(char *const *argv)
{
	static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash"};
	bool shell = false, failing = false;

	for (size_t i = 0; argv[0] && i < IB_LEN(shells); i++)
		shell |= strcmp(base(argv[0]), shells[i]) == 0;
	for (argv++; shell && *argv; argv++) {
		failing |= strcmp(*argv, "pipefail") == 0; /* -o pipefail */
		if ((*argv)[0] != '-' || (*argv)[1] == '-' || !strchr(*argv, 'c') || !argv[1])
			continue;
		if (strchr(*argv, 'o') && strcmp(argv[1], "pipefail") == 0) { /* -oc pipefail TEXT, -co pipefail TEXT */
			failing = true;
			continue;
		}
		return failing || strstr(argv[1], "pipefail") || !has_pipe(argv[1]) ? NULL : "the command is a pipe of a shell without pipefail: its status "
											     "is that of the last part alone";
	}
	return NULL;
}

/* Measured: GuideLLM took 38 s after INT to write what it had, inference-perf 13 s or never, vLLM's client ends within a second and writes
 * nothing. TERM makes none of them write. */
static const struct {
	const char *name;
	int64_t grace_s;
} clients[] = {{"guidellm", 60}, {"inference-perf", 30}, {"aiperf", 30}, {"vllm", 10}, {"sglang", 10}};

int64_t ib_client_grace_ns(const char *client, int *ret_signal)
{
	for (size_t i = 0; i < IB_LEN(clients); i++)
		if (ib_streq(client, clients[i].name)) {
			*ret_signal = SIGINT;
			return clients[i].grace_s * IB_NS;
		}
	*ret_signal = SIGTERM;
	return 10 * IB_NS;
}
