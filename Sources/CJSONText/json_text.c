#include "json_text.h"

#include <string.h>

enum { STEP = 64, RUN = 16 };

// Continues byte by byte after the steps of many bytes.
static inline struct tickertape_progress unescape_from(
    const uint8_t *bytes, size_t count, uint8_t *target, struct tickertape_progress progress
) {
    size_t from = progress.read, to = progress.written;
    while (from < count) {
        if (bytes[from] == '\\') {
            if (count - from < 2 || bytes[from + 1] != '"') break;
            from++;
        }
        target[to++] = bytes[from++];
    }
    return (struct tickertape_progress){from, to};
}

static inline struct tickertape_progress escape_from(
    const uint8_t *bytes, size_t count, uint8_t *target, struct tickertape_progress progress
) {
    size_t from = progress.read, to = progress.written;
    while (from < count && bytes[from] >= 0x20 && bytes[from] != '\\') {
        if (bytes[from] == '"') target[to++] = '\\';
        target[to++] = bytes[from++];
    }
    return (struct tickertape_progress){from, to};
}

#if defined(__SSE2__)

#include <emmintrin.h>

// One bit for each of 64 bytes.
struct marks {
    uint64_t quotes;
    uint64_t backslashes;
    uint64_t controls;
};

static inline struct marks look(const uint8_t *bytes) {
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F);
    struct marks marks = {0, 0, 0};
    for (int part = 0; part < STEP / RUN; part++) {
        const __m128i sixteen = _mm_loadu_si128((const __m128i *)(bytes + part * RUN));
        const uint64_t quotes = (uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, quote));
        const uint64_t backslashes = (uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, backslash));
        const uint64_t controls =
            (uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(sixteen, control), sixteen));
        marks.quotes |= quotes << part * RUN;
        marks.backslashes |= backslashes << part * RUN;
        marks.controls |= controls << part * RUN;
    }
    return marks;
}

// Copies `length` bytes and up to 15 more; both buffers must have space for those.
static inline void copy_run(uint8_t *out, const uint8_t *in, size_t length) {
    for (size_t done = 0; done < length; done += RUN) memcpy(out + done, in + done, RUN);
}

size_t tickertape_usual_text(const void *text, size_t count, int *escapes) {
    const uint8_t *bytes = text;
    size_t place = 0;
    // Whether the previous step ended with a backslash.
    uint64_t carry = 0;
    for (; count - place >= STEP; place += STEP) {
        const struct marks marks = look(bytes + place);
        // Two backslashes in a row are not common either: the second is not a quotation mark.
        if (marks.controls != 0 || marks.quotes != (marks.backslashes << 1 | carry)) break;
        carry = marks.backslashes >> 63;
        if (marks.backslashes != 0) *escapes = 1;
    }
    return place - carry;
}

struct tickertape_progress tickertape_unescape_quotes(const void *text, size_t count, void *out) {
    const uint8_t *bytes = text;
    uint8_t *target = out;
    size_t from = 0, to = 0;
    // Copying a run may touch 15 bytes beyond the step.
    for (; count - from >= STEP + RUN; from += STEP) {
        const struct marks marks = look(bytes + from);
        uint64_t left = marks.backslashes;
        if ((left << 1 & ~marks.quotes) != 0 || (left >> 63 != 0 && bytes[from + STEP] != '"')) break;
        size_t start = 0;
        for (; left != 0; left &= left - 1) {
            const size_t end = (size_t)__builtin_ctzll(left);
            copy_run(target + to, bytes + from + start, end - start);
            to += end - start;
            // The quotation mark begins the next run.
            start = end + 1;
        }
        copy_run(target + to, bytes + from + start, STEP - start);
        to += STEP - start;
    }
    return unescape_from(bytes, count, target, (struct tickertape_progress){from, to});
}

struct tickertape_progress tickertape_escape_quotes(const void *text, size_t count, void *out) {
    const uint8_t *bytes = text;
    uint8_t *target = out;
    size_t from = 0, to = 0;
    for (; count - from >= STEP + RUN; from += STEP) {
        const struct marks marks = look(bytes + from);
        if ((marks.controls | marks.backslashes) != 0) break;
        size_t start = 0;
        for (uint64_t left = marks.quotes; left != 0; left &= left - 1) {
            const size_t end = (size_t)__builtin_ctzll(left);
            copy_run(target + to, bytes + from + start, end - start);
            to += end - start;
            target[to++] = '\\';
            start = end;
        }
        copy_run(target + to, bytes + from + start, STEP - start);
        to += STEP - start;
    }
    return escape_from(bytes, count, target, (struct tickertape_progress){from, to});
}

#else

size_t tickertape_usual_text(const void *text, size_t count, int *escapes) {
    const uint8_t *bytes = text;
    size_t place = 0;
    while (place < count && bytes[place] >= 0x20 && bytes[place] != '"') {
        if (bytes[place] == '\\') {
            if (count - place < 2 || bytes[place + 1] != '"') break;
            *escapes = 1;
            place++;
        }
        place++;
    }
    return place;
}

struct tickertape_progress tickertape_unescape_quotes(const void *text, size_t count, void *out) {
    return unescape_from(text, count, out, (struct tickertape_progress){0, 0});
}

struct tickertape_progress tickertape_escape_quotes(const void *text, size_t count, void *out) {
    return escape_from(text, count, out, (struct tickertape_progress){0, 0});
}

#endif
