"""Random playouts of dou dizhu in other libraries: run by `peers.py` with the Python that has them.

`python playouts.py LIBRARY GAMES` prints `games/cpu-s=…` and the version; start-up is not in the time.
"""

import importlib
import random
import sys
import time
from collections.abc import Callable
from importlib import metadata


def open_spiel() -> Callable[[], None]:
    """Return a playout: OpenSpiel's C++ core, driven from Python by as little as it takes.

    It offers Python no playout in one call. Cards are dealt with equal chances, so that chance needs no case apart.
    """
    game = importlib.import_module("pyspiel").load_game("dou_dizhu")

    def play() -> None:
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))

    return play


def open_spiel_examples() -> Callable[[], None]:
    """Return a playout as OpenSpiel's examples write it: chance drawn by its probabilities with NumPy."""
    game = importlib.import_module("pyspiel").load_game("dou_dizhu")
    choice = importlib.import_module("numpy").random.choice

    def play() -> None:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                actions, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(choice(actions, p=chances))
            else:
                state.apply_action(random.choice(state.legal_actions()))

    return play


def rlcard() -> Callable[[], None]:
    """Return a playout of RLCard's game alone, without the states that its environment encodes for learners."""
    game = importlib.import_module("rlcard").make("doudizhu", config={"seed": 0}).game

    def play() -> None:
        state, _ = game.init_game()
        while not game.is_over():
            state, _ = game.step(random.choice(state["actions"]))

    return play


def rlcard_env() -> Callable[[], None]:
    """Return a playout as RLCard's documentation writes it: its environment with its random agents."""
    environment = importlib.import_module("rlcard").make("doudizhu", config={"seed": 0})
    agent = importlib.import_module("rlcard.agents").RandomAgent
    environment.set_agents([agent(environment.num_actions) for _ in range(environment.num_players)])

    def play() -> None:
        environment.run(is_training=False)

    return play


# How to play -> the package whose version is told, and what makes the playout.
LIBRARIES = {
    "open_spiel": ("open_spiel", open_spiel),
    "open_spiel_examples": ("open_spiel", open_spiel_examples),
    "rlcard": ("rlcard", rlcard),
    "rlcard_env": ("rlcard", rlcard_env),
}


def main(library: str, games: int) -> None:
    random.seed(0)
    package, make = LIBRARIES[library]
    play = make()
    play()
    began = time.process_time()
    for _ in range(games):
        play()
    seconds = time.process_time() - began
    print(f"games/cpu-s={games / seconds:.2f} version={metadata.version(package)}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
