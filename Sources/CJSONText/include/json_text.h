#ifndef TICKERTAPE_JSON_TEXT_H
#define TICKERTAPE_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>

// The escapes of JSON strings, sixty-four bytes a step. A recorded frame is JSON within JSON: every sixth byte of it is a
// quotation mark, so that a loop over bytes spends its time on branches that nobody can foresee.
//
// Each function does the usual, in which `"` and `\` come only as `\"`, and stops where anything else stands: the caller
// does that by itself and may call again behind it. None reads or writes outside what it was given.

// How far it got: so many bytes were read, and so many written.
struct tickertape_progress {
    size_t read;
    size_t written;
};

// Some bytes from the start, often all but the last 63, that hold no byte below 0x20, no `"` without a `\` before it, and
// no `\` without a `"` behind it. Ends within no escape. `*escapes` becomes 1 where one may have been stepped over.
size_t tickertape_usual_text(const void *text, size_t count, int *escapes);

// Copies `text` without the backslashes of `\"`, up to another escape or the end. `out` has room for `count` bytes.
struct tickertape_progress tickertape_unescape_quotes(const void *text, size_t count, void *out);

// Copies `text` with a backslash before each `"`, up to a byte below 0x20, a `\`, or the end. `out` has room for twice
// `count`.
struct tickertape_progress tickertape_escape_quotes(const void *text, size_t count, void *out);

#endif
