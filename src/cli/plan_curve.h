/* plan_curve.h - the rate as a function of n, of k, or of the bits per key */
#ifndef CLI_PLAN_CURVE_H
#define CLI_PLAN_CURVE_H

#include "plan_case.h"
#include "sheet.h"

enum plan_curve { CURVE_NONE, CURVE_KEYS, CURVE_HASHES, CURVE_BITS };

/* The points of the curve, columns x (n, k or bits_per_key), used and textbook:
 *   n     m and k stay, n runs from a tenth of the case's to ten times as many
 *   k     m and n stay, k runs up to twice the best
 *   bits  n stays, the size runs up to twice the case's, with the best k for each
 * The case must have a filter. */
void plan_curve_fill(struct sheet *sheet, const struct plan_case *answer, enum plan_curve curve);

/* Draws it, with the case's own point marked; `columns` wide. */
void plan_curve_draw(const struct sheet *sheet, const struct plan_case *answer,
		     enum plan_curve curve, struct output *out, unsigned columns, bool ascii);

#endif
