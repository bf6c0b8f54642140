"""Radix tree: splits, walks, and agreement with a set of plain token lists."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.cache.radix import TOKEN_BYTES, Node, RadixTree, common_bytes, pack_key, unpack_key

PATHS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12), min_size=1, max_size=12)


def insert(tree: RadixTree, ids: list[int], namespace: str = "") -> Node:
    tree.root(namespace)
    key = pack_key(ids)
    found = tree.walk(namespace, key)
    node = found.node if found.whole else tree.split(found.node, found.common - found.node.start)
    if found.common < len(ids):
        node = tree.add_child(node, key[found.common * TOKEN_BYTES :])
    node.terminal = True
    return node


def shape(tree: RadixTree, namespace: str = "") -> object:
    def below(node: Node) -> object:
        return sorted((list(unpack_key(c.key)), c.terminal, below(c)) for c in node.children.values())

    return below(tree.root(namespace))


def lcp(a: list[int], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@given(PATHS, st.lists(st.integers(0, 2), max_size=14))
def test_walk_finds_the_longest_common_prefix_over_all_paths(paths: list[list[int]], prompt: list[int]) -> None:
    tree = RadixTree()
    for path in paths:
        insert(tree, path)
    assert tree.walk("", pack_key(prompt)).common == max(lcp(path, prompt) for path in paths)


@given(PATHS, st.lists(st.integers(0, 2), max_size=14))
def test_classic_walk_counts_whole_registered_paths_alone(paths: list[list[int]], prompt: list[int]) -> None:
    tree = RadixTree()
    for path in paths:
        insert(tree, path)
    expected = max((len(path) for path in paths if prompt[: len(path)] == path), default=0)
    assert tree.walk_classic("", pack_key(prompt)).common == expected


@given(PATHS, st.randoms(use_true_random=False))
def test_order_of_insertion_leaves_no_trace_in_the_tree(paths: list[list[int]], random: object) -> None:
    shuffled = list(paths)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    trees = []
    for order in (paths, shuffled):
        tree = RadixTree()
        for path in order:
            insert(tree, path)
        trees.append(shape(tree))
    assert trees[0] == trees[1]


def test_reverse_order_of_the_tutorial_ends_in_the_same_tree() -> None:
    tree = RadixTree()
    insert(tree, [4, 5, 6, 7])
    insert(tree, [4, 5])
    assert shape(tree) == [([4, 5], True, [([6, 7], True, [])])]
    assert tree.walk_classic("", pack_key([4, 5, 8])).common == 2


def test_tutorial_matches_whole_edges_with_an_end() -> None:
    tree = RadixTree()
    for path in ([0, 1, 2, 3], [0, 1, 2, 3, 4], [9, 9, 9]):
        insert(tree, path)
    matched = {tuple(p): tree.walk_classic("", pack_key(p)).common for p in ([0, 1, 2, 3, 4, 5], [9, 9, 9], [7, 6, 5])}
    assert matched == {(0, 1, 2, 3, 4, 5): 5, (9, 9, 9): 3, (7, 6, 5): 0}


def test_split_keeps_children_mark_and_id_with_the_old_suffix() -> None:
    tree = RadixTree()
    whole = insert(tree, [1, 2, 3, 4])
    insert(tree, [1, 2, 3, 4, 5])
    upper = tree.split(whole, 2)
    assert (whole.start, whole.stop, whole.terminal, len(whole.children)) == (2, 4, True, 1)
    assert (upper.start, upper.stop, upper.terminal, list(upper.children.values())) == (0, 2, False, [whole])


def test_namespaces_share_nothing() -> None:
    tree = RadixTree()
    insert(tree, [1, 2, 3], "a")
    assert tree.walk("b", pack_key([1, 2, 3])).common == 0
    assert tree.walk("a", pack_key([1, 2, 3])).common == 3


@given(st.lists(st.integers(-(2**40), 2**40), max_size=40), st.lists(st.integers(-(2**40), 2**40), max_size=40))
def test_common_bytes_stop_at_the_first_differing_token(a: list[int], b: list[int]) -> None:
    shared = [7, 2**39, -1]
    edge, key = pack_key(shared + a), pack_key([5, *shared, *b])
    assert common_bytes(edge, key, TOKEN_BYTES) == lcp(shared + a, shared + b) * TOKEN_BYTES


def test_ids_that_differ_in_one_high_byte_alone_are_told_apart() -> None:
    edge, key = pack_key([1, 1, 1]), pack_key([1, 1 + 2**56, 1])
    assert common_bytes(edge, key, 0) == TOKEN_BYTES


def test_keys_give_back_their_ids() -> None:
    assert list(unpack_key(pack_key([0, 5, 2**31]))) == [0, 5, 2**31]
    assert pack_key(array("q", [3, 4])) == pack_key([3, 4])
