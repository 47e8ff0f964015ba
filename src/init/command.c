/* SPDX-License-Identifier: Apache-2.0 */
/* Any other load generator. */
#include "init/table.h"

#include <stddef.h>

static const char *const about[] = {
	"Results that ib-verify reads: ib-requests(5) describes the plain form; 'convert' may make it from what your client writes.",
	"Everything below {output_dir} counts as produced by the run, and nothing else does.",
	NULL,
};

static const struct ib_init_row command[] = {
	{.words = "./client",
	 .why = "EDIT: your load generator, one invocation for one cell and one repeat"},
	{.words = "--url @endpoint@ --model @model@ --input-tokens @input@ --output-tokens @output@ --requests @prompts@ --seed @seed@"},
	{.words = "--concurrency @cap@",
	 .why = "closed load: a cap and no rate; open load: a rate and no cap"},
	{.words = "--output @out@/requests.jsonl",
	 .why = "a new file for each run"},
	{0},
};

static const char *const limits[] = {
	"One client process makes the load; where it is short of CPU its own queueing counts as the server's latency.",
	NULL,
};

const struct ib_init_client ib_init_command = {
	.name = "command",
	.title = "any other command",
	.server = "other",
	.about = about,
	.command = command,
	.limits = limits,
};
