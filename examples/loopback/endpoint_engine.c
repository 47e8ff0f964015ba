/* SPDX-License-Identifier: Apache-2.0 */
/* The pretended engine: slots, the time that tokens cost, faults. */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "examples/loopback/endpoint.h"

#define NAP_NS 50000000LL /* longest sleep between two looks at the stop flag */

int64_t lb_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * IB_NS + t.tv_nsec;
}

bool lb_engine_sleep(const struct lb_server *s, int64_t due_ns)
{
	while (!atomic_load(&s->stopping)) {
		int64_t now = lb_now_ns();
		int64_t next = due_ns - now > NAP_NS ? now + NAP_NS : due_ns;
		struct timespec t = {.tv_sec = next / IB_NS, .tv_nsec = next % IB_NS};

		if (now >= due_ns)
			return true;
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
	}
	return false;
}

enum lb_fault lb_engine_arrive(struct lb_server *s, struct lb_job *job)
{
	job->arrived_ns = lb_now_ns();
	pthread_mutex_lock(&s->lock);
	job->number = s->arrivals++;
	pthread_mutex_unlock(&s->lock);
	return lb_fault_of(&s->config, job->number);
}

/* A cost under the load of now. The caller holds the lock. Options at their ends would overflow 64 bits: no cost is over a year. */
static int64_t loaded(const struct lb_server *s, int64_t cost_ns)
{
	double more = (double)cost_ns * (double)s->config.slowdown_pct * (double)(s->metrics.running - 1) / 100;

	return (int64_t)fmin((double)cost_ns + more, 3.2e16);
}

bool lb_engine_start(struct lb_server *s, struct lb_job *job)
{
	uint64_t ticket;
	int64_t cost;

	pthread_mutex_lock(&s->lock);
	ticket = s->tickets++;
	s->metrics.waiting++;
	while (!atomic_load(&s->stopping) && (ticket != s->admitted || s->metrics.running >= (uint64_t)s->config.max_running))
		pthread_cond_wait(&s->turn, &s->lock);
	s->metrics.waiting--;
	s->metrics.running++;
	s->admitted++;
	job->cached = lb_cache_use(s->cache, job->tokens, job->tokens_n);
	s->metrics.cache_queries += job->tokens_n;
	s->metrics.cache_hits += job->cached;
	s->metrics.prompt_tokens += job->tokens_n;
	cost = loaded(s, s->config.prefill_base_ns + s->config.prefill_token_ns * (int64_t)(job->tokens_n - job->cached));
	pthread_cond_broadcast(&s->turn);
	pthread_mutex_unlock(&s->lock);
	job->due_ns = lb_now_ns() + cost;
	return lb_engine_sleep(s, job->due_ns);
}

bool lb_engine_token(struct lb_server *s, struct lb_job *job, bool first)
{
	if (!first) {
		pthread_mutex_lock(&s->lock);
		job->due_ns += loaded(s, s->config.decode_token_ns);
		pthread_mutex_unlock(&s->lock);
		if (!lb_engine_sleep(s, job->due_ns))
			return false;
	}
	pthread_mutex_lock(&s->lock);
	s->metrics.generation_tokens++;
	pthread_mutex_unlock(&s->lock);
	return true;
}

void lb_engine_finish(struct lb_server *s, enum lb_finish how)
{
	pthread_mutex_lock(&s->lock);
	s->metrics.running--;
	s->metrics.finished[how]++;
	pthread_cond_broadcast(&s->turn);
	pthread_mutex_unlock(&s->lock);
}

bool lb_engine_reset(struct lb_server *s)
{
	bool idle;

	pthread_mutex_lock(&s->lock);
	idle = s->metrics.running == 0 && s->metrics.waiting == 0;
	if (idle)
		lb_cache_reset(s->cache);
	pthread_mutex_unlock(&s->lock);
	return idle;
}
