import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tlsim", "how much the kernels are compared with the slow twin")
    group.addoption("--twin-positions", type=int, default=300, help="positions for each table (default 300)")
    group.addoption("--twin-hands", type=int, default=180, help="hands for each table (default 180)")
    group.addoption("--twin-share", default="1/1", help="k/n: every n-th hand of a table, from the k-th (default 1/1)")
    group.addoption("--exact-deals", type=int, default=400_000, help="deals sampled against exact odds (400,000)")
    group.addoption("--twin-rule-sets", type=int, default=40, help="random rule sets (default 40)")
    group.addoption("--fair-files", type=int, default=40, help="files of fair deals to check for false alarms (40)")
    group.addoption("--odds-deals", type=int, default=200_000, help="deals sampled for tables of odds (200,000)")
    group.addoption("--all-patterns", action="store_true", help="all rule sets against all hands of small decks")
