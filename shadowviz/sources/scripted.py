"""A script run to its end in this process, at full speed, and recorded: for a run that nobody watches."""

import time
from collections.abc import Callable

from shadowviz.sources.child_wire import Answer, Command, Setup
from shadowviz_engine.core.log import FileSink


def record_script(setup: Setup, tell: Callable[[str], None]) -> None:
    """Run the script of `setup` on an engine of its own and record it; steps that are refused are told.

    Raises:
        InputError: options or script are wrong, or the record is there already.
        ShadowvizError: a pass failed; the record ends where it was.
    """
    # The file first: that it cannot be written is known long before torch has loaded.
    sink = FileSink(setup.log, overwrite=setup.overwrite)
    try:
        from shadowviz.sources.child_engine import ChildEngine
        from shadowviz.sources.embedded import EmbeddedRun, engine_options
        from shadowviz.sources.script import acts_of
        from shadowviz.tokens.encode.tokenizer import default_tokenizer

        tokenizer = default_tokenizer()
        acts = acts_of(setup.script, tokenizer)
        run = EmbeddedRun(engine_options(setup.options), [sink], tokenizer, setup.record_text)
    except BaseException:
        sink.discard()
        raise
    engine = ChildEngine(run, tokenizer, sink, acts, setup.pace_s)

    def command(seconds: float) -> Command | None:
        if engine.is_done:
            return Command(id=0, do="stop")
        time.sleep(seconds)
        return None

    def say(answer: Answer) -> None:
        if not answer.taken:
            tell(answer.words)

    try:
        engine.serve(command, say)
    finally:
        engine.close()
