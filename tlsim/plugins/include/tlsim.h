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

struct tlsim_rules {
    int64_t players;
    int64_t decks;
    int64_t cards;
    int64_t min_players;
    int64_t max_players;
    int64_t first_lead;
    int64_t first_lead_every_hand;
    int64_t ends;
    int64_t straight_min;
    int64_t straight_twos;
    int64_t double_straight_twos;
    int64_t double_straight_max;
    int64_t quad_twos;
    int64_t ties;
    int64_t trading;
    int64_t pass_locks;
    int64_t must_play;
    int64_t finish_on_two;
    int64_t instant_wins[7];
    int64_t opening_instant_wins[7];
    int64_t six_pairs_quads_twice;
    int64_t instant_wins_any_size;
    int64_t payoff;
    int64_t leftover_penalties;
    int64_t chop_penalties;
    int64_t cong;
    int64_t straight_cards;
    int64_t double_cards;
    int64_t quad_cards;
    int64_t chop_classes;
    int64_t unlocked_classes;
    int64_t chopped_by[18];
    int64_t chop_order[14];
};

struct tlsim_view {
    int64_t seat;
    int64_t hand;
    int64_t hand_second;
    int64_t second;
    int64_t on;
    int64_t on_cards;
    int64_t on_second;
    int64_t owner;
    int64_t required;
    int64_t asked_again;
    int64_t opening;
    int64_t dealer;
    int64_t holding;
    int64_t passed;
    int64_t left[8];
    int64_t played[8];
    int64_t played_second[8];
    int64_t n_turns;
    int64_t turn_seat[832];
    int64_t turn_cards[832];
    int64_t turn_second[832];
    int64_t plays[16384];
    int64_t plays_second[16384];
};

struct tlsim_stream {
    uint64_t s0;
    uint64_t s1;
    uint64_t s2;
    uint64_t s3;
    uint64_t seed_mix;
    uint64_t seed_product;
    uint64_t word;
    int64_t is_open;
};

struct tlsim_params {
    double value[4];
};

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
