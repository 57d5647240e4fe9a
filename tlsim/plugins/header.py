"""The C header of a policy, made from the records that kernels use."""

from pathlib import Path
from typing import Any

import numpy as np

from tlsim.engine.rng import STREAM
from tlsim.engine.view import PARAMS, VIEW
from tlsim.rules.ruleset import RULES

PATH = Path(__file__).parent / "include" / "tlsim.h"
_TYPES = {"i8": "int64_t", "u8": "uint64_t", "f8": "double"}
_HEAD = """\
/* tlsim.h - a policy in C, or in any language that can export a C function. Made by tlsim.plugins.header.
 *
 *     int64_t choose(const struct tlsim_rules *rules, struct tlsim_view *view, struct tlsim_stream *stream,
 *                    const struct tlsim_params *params);
 *
 * It returns the mask of the cards it plays, 0 to pass, TLSIM_RAISED to report a failure. Card 4*rank + suit is that
 * bit of the mask: rank 0 the 3s to 12 the 2s; suit 0 spades, 1 clubs, 2 diamonds, 3 hearts. Every play is checked.
 * Build:  cc -O3 -shared -fPIC -I$(tlsim policies --include) -o bot.so bot.c
 *    Use:  tlsim simulate -p lib:./bot.so:choose,0.3
 */
#ifndef TLSIM_H
#define TLSIM_H
#include <stdint.h>

#define TLSIM_RAISED INT64_MIN
"""
_TAIL = """
/* The next random word of the seat's own stream (xoshiro256++). */
static inline uint64_t tlsim_draw(struct tlsim_stream *s)
{
    if (!s->is_open) {
        uint64_t z = s->word + s->seed_mix, word[4];
#define TLSIM_MIX(z) (z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u, z = (z ^ z >> 27) * 0x94D049BB133111EBu, z ^ z >> 31)
        word[0] = TLSIM_MIX(z);
        z = (word[0] + s->seed_product) ^ 0x9E3779B97F4A7C15u;
        word[1] = TLSIM_MIX(z);
        z = word[0] + 0x9E3779B97F4A7C15u;
        word[2] = TLSIM_MIX(z);
        z = word[1] + 0x9E3779B97F4A7C15u;
        word[3] = TLSIM_MIX(z);
#undef TLSIM_MIX
        s->s0 = word[0], s->s1 = word[1], s->s2 = word[2], s->s3 = word[3], s->is_open = 1;
    }
    uint64_t sum = s->s0 + s->s3, result = (sum << 23 | sum >> 41) + s->s0, t = s->s1 << 17;
    s->s2 ^= s->s0, s->s3 ^= s->s1, s->s1 ^= s->s2, s->s0 ^= s->s3, s->s2 ^= t, s->s3 = s->s3 << 45 | s->s3 >> 19;
    return result;
}

#endif
"""


def c_struct(name: str, dtype: Any) -> str:
    """Return the C struct of a record: the same fields at the same offsets, all of eight bytes an element."""
    dtype = np.dtype(dtype)
    lines, offset = [f"struct {name} {{"], 0
    for field in dtype.names or ():
        kind, at = dtype.fields[field][:2]
        base, shape = kind.subdtype or (kind, ())
        assert at == offset
        assert base.itemsize == 8
        offset += kind.itemsize
        dims = "".join(f"[{n}]" for n in shape)
        lines.append(f"    {_TYPES[base.kind + '8']} {field}{dims};")
    return "\n".join([*lines, "};", ""])


def c_header() -> str:
    """Return the text of `tlsim.h`."""
    records = [("tlsim_rules", RULES), ("tlsim_view", VIEW), ("tlsim_stream", STREAM), ("tlsim_params", PARAMS)]
    structs = "\n".join(c_struct(name, dtype) for name, dtype in records)
    return f"{_HEAD}\n{structs}{_TAIL}"


if __name__ == "__main__":
    PATH.write_text(c_header(), encoding="utf-8")
