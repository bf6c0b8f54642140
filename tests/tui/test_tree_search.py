"""Search for text in the tree, beside a look at every token of every node."""

from hypothesis import given, settings
from hypothesis import strategies as st
from trees import chat_state, walked
from tui_logs import chat_log
from tui_runs import press, run_app, settled

from shadowviz.tui.models import tree_search
from shadowviz.tui.models.tree_search import TextSearch


class Letters:
    """Words of ids as the letters of the alphabet, so that phrases reach over tokens."""

    readable = True

    def text(self, ids):
        return "".join(chr(ord("a") + token % 7) for token in ids)

    def cause(self, prompt, stored):
        return "UNKNOWN"


def by_hand(state, phrase):
    living = [node for node in range(1, len(state.nodes)) if state.nodes.alive[node]]
    return {node for node in living if phrase in Letters().text(state.node_tokens(node)[: tree_search.MAX_WORD_TOKENS])}


STATES = [chat_state(), *(walked(seed, 40)[1] for seed in range(4))]


@given(
    state=st.sampled_from(STATES),
    phrase=st.text("abcdefg", min_size=1, max_size=4),
    chunk=st.sampled_from((5, 64, 1000)),
)
@settings(max_examples=30, deadline=None)
def test_a_search_in_slices_finds_what_a_look_at_every_node_does(state, phrase, chunk):
    whole, slices = tree_search.CHUNK, tree_search.SLICE
    tree_search.CHUNK, tree_search.SLICE = chunk, 2
    try:
        search, num_slices = TextSearch(state, Letters(), phrase), 1
        while not search.advance(0.0):
            num_slices += 1
            assert 0 <= search.looked < 1
    finally:
        tree_search.CHUNK, tree_search.SLICE = whole, slices
    assert num_slices > len(state.tokens) // chunk
    assert len(set(search.found)) == len(search.found)
    assert by_hand(state, phrase) <= set(search.found)
    assert all(phrase in Letters().text(state.node_tokens(node)) for node in search.found)


def test_no_more_is_found_than_was_asked_for_and_nothing_for_nothing():
    search = TextSearch(STATES[0], Letters(), "a", most=1)
    assert search.advance()
    assert len(search.found) == 1
    nothing = TextSearch(STATES[0], Letters(), "")
    assert nothing.advance()
    assert nothing.found == []


def test_the_title_says_how_many_nodes_a_search_has_found_and_which_one_is_at_the_cursor(tmp_path):
    async def look(app, pilot):
        await press(app, pilot, "2", "slash", *"9000", "enter")
        while app.screen._search_on is not None:
            await settled(app, pilot)
        found = app.screen._found
        assert len(found) > 1
        title = (await press(app, pilot, "n")).splitlines()[2]
        assert f"2 of {len(found)} found: /9000" in title
        title = (await press(app, pilot, "home")).splitlines()[2]
        assert f"  {len(found)} found: /9000" in title

    run_app(chat_log(tmp_path / "chat.jsonl"), look)
