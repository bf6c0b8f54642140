"""Text made harmless: a character is written out exactly where Python would not call it printable."""

import random

from shadowviz.tokens.inert import printable

NEVER_SHOWN = ("\x00", "\x1b", "\x7f", "\x85", "\xa0", "\u200b", "\u2028", "\u202e", "\u2066", "\ud800", "\ufeff")


def test_what_moves_hides_or_reorders_is_written_out_beside_anything() -> None:
    for character in NEVER_SHOWN:
        for text in (character, f"plain {character}", f"日本{character}語"):
            assert character not in printable(text)
            assert printable(text).isprintable()


def test_text_is_changed_by_its_hidden_characters_alone() -> None:
    rng = random.Random(0)
    characters = [*map(chr, range(0x3000)), *(chr(rng.randrange(0x3000, 0x110000)) for _ in range(20_000))]
    for character in characters:
        # A hidden neighbour makes every character of a text be looked at by itself.
        alone, beside = printable(character), printable(f"{character}\x00").removesuffix("\\u0000")
        assert alone == beside
        assert (alone == character) == character.isprintable()
