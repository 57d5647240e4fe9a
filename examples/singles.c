/* A policy in C: leads one card by chance, answers single cards with the lowest that beats them, passes on all else.
 *
 *     cc -O3 -shared -fPIC -I$(tlsim policies --include) -o singles.so examples/singles.c
 *     tlsim simulate -p lib:./singles.so:choose
 */
#include "tlsim.h"

int64_t choose(const struct tlsim_rules *rules, struct tlsim_view *view, struct tlsim_stream *stream,
               const struct tlsim_params *params)
{
    (void)rules, (void)params;
    int64_t hand = view->hand, single = 1;
    if (view->on == 0) {
        if (view->required)
            return view->required;
        /* A number below the count of cards, from one random word; then drop that many of the lowest cards. */
        int64_t k = (int64_t)(((unsigned __int128)tlsim_draw(stream) * __builtin_popcountll(hand)) >> 64);
        while (k--)
            hand &= hand - 1;
        return hand & -hand;
    }
    /* The play to beat is a code: its kind from bit 10 up, its top card in the lowest six bits. */
    if (view->on >> 10 != single || view->asked_again)
        return 0;
    hand &= -2LL << (view->on & 63);
    return hand & -hand;
}
