/* capture.h - what a piece of a tool prints, and how it ends */
#ifndef TESTS_CAPTURE_H
#define TESTS_CAPTURE_H

#include "support.h"

struct capture {
	int status;      /* as of child_end */
	char out[16384]; /* what came on standard output, with a NUL at the end */
	char err[16384]; /* the same of standard error */
	size_t out_length;
	size_t err_length;
};

/* Runs body(context) in a child, as the tool "tool". */
void capture_run(struct capture *capture, int (*body)(void *context), void *context);

/* A terminal of `columns`; returns the side that reads what is written to *tool. */
int terminal_open(unsigned short columns, int *tool);

#endif
