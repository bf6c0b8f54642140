"""The engine of a child process: it runs a script and what it is told, pass by pass, and answers every command."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from shadowviz.sources.child_wire import Answer, Command
from shadowviz.sources.embedded import EmbeddedRun
from shadowviz.sources.script import Act
from shadowviz.sources.states import EngineState
from shadowviz.tokens.encode.tokenizer import Tokenizer
from shadowviz.tokens.inert import printable
from shadowviz.tokens.inputs.request_line import decode_line
from shadowviz.tokens.inputs.requests import PromptRequest, read_path, to_request
from shadowviz_engine.core.errors import InputError, ShadowvizError
from shadowviz_engine.core.sinks import Sink

Say = Callable[[Answer], None]
Next = Callable[[float], Command | None]
"""The next command within so many seconds; None = there is none."""

NAP_S = 0.2
"""Longest wait for a command, where the script says nothing sooner."""


class ChildEngine:
    """Runs until it is stopped; the record is closed then."""

    def __init__(
        self, run: EmbeddedRun, tokenizer: Tokenizer, sink: Sink, acts: list[Act], pace_s: float = 0.0
    ) -> None:
        self._run, self._tokenizer, self._sink = run, tokenizer, sink
        self._stop_ids = (tokenizer.eos_id,) if tokenizer.eos_id < run.vocab_size else ()
        self._acts = acts[::-1]
        self._pace_s = pace_s
        self._paused = self._stopped = self._busy = False
        self._passes = 0
        self._begun_s = self._acted_s = time.monotonic()
        self._num_named = 0

    @property
    def is_done(self) -> bool:
        """Whether no request runs and no step of the script is left."""
        return not (self._busy or self._acts)

    def serve(self, next_command: Next, say: Say) -> None:
        """Run passes and take commands until told to stop.

        Raises:
            ShadowvizError: a pass failed; the record ends where it was.
        """
        say(Answer(state=EngineState.RUNNING))
        while True:
            idle = self._paused or not (self._busy or self._is_due())
            command = next_command(self._nap_s() if idle else 0.0)
            while command is not None:
                say(self._obey(command, say))
                if self._stopped:
                    return
                command = next_command(0.0)
            if not self._paused:
                self._act(say)
                if self._busy:
                    self._pass()

    def close(self) -> None:
        """End the record properly, after a failed pass without its last line."""
        self._run.engine.close()

    def _pass(self) -> None:
        self._busy = self._run.step()
        self._passes += 1

    def _is_due(self) -> bool:
        """Whether the next step of the script may be done."""
        if not self._acts:
            return False
        act, now_s = self._acts[-1], time.monotonic()
        if (self._busy and not act.beside) or (self._busy and self._passes < act.passes):
            return False
        return now_s - self._begun_s >= act.at_s and (act.beside or now_s - self._acted_s >= self._pace_s)

    def _act(self, say: Say) -> None:
        while self._is_due():
            act = self._acts.pop()
            self._acted_s, self._passes = time.monotonic(), 0
            try:
                self._do_act(act)
            except ShadowvizError as error:
                say(Answer(taken=False, words=printable(f"the script goes on without a step: {error}")))
            self._sink.flush()

    def _do_act(self, act: Act) -> None:
        if act.prompt is not None:
            self._run.submit(act.prompt, self._stop_ids)
            self._busy = True
        elif act.abort:
            self._run.engine.abort(act.abort)
        else:
            self._run.engine.flush()

    def _nap_s(self) -> float:
        return min(NAP_S, self._pace_s) if self._acts and not self._paused and self._pace_s else NAP_S

    def _obey(self, command: Command, say: Say) -> Answer:
        # A pass that fails is no refusal: it ends the engine.
        if command.do == "step":
            return self._step(command.id, say)
        try:
            answer = self._do(command)
        except ShadowvizError as error:
            answer = Answer(id=command.id, taken=False, words=printable(str(error)))
        self._sink.flush()
        return answer

    def _do(self, command: Command) -> Answer:
        match command.do:
            case "submit":
                return self._submit(command.id, [self._prompt(command.line or {})])
            case "submit_file":
                return self._submit(command.id, [self._named(p) for p in read_path(command.path, self._tokenizer)])
            case "pause":
                self._paused = True
                return Answer(id=command.id, state=EngineState.PAUSED)
            case "resume":
                self._paused = False
                return Answer(id=command.id, state=EngineState.RUNNING)
            case "abort":
                self._run.engine.abort(command.request)
            case "flush":
                self._run.engine.flush()
            case "stop":
                self._stopped = True
        return Answer(id=command.id)

    def _step(self, number: int, say: Say) -> Answer:
        if not self._paused:
            return Answer(id=number, taken=False, words="the engine runs: pause it before a single pass")
        self._act(say)
        if not self._busy:
            return Answer(id=number, taken=False, words="no request is left to run a pass for")
        self._pass()
        return Answer(id=number)

    def _submit(self, number: int, prompts: list[PromptRequest]) -> Answer:
        """Submit all of them; when one is refused, those before it run."""
        if not prompts:
            raise InputError("no request is in it: expected one JSON object a line")
        taken: list[str] = []
        for prompt in prompts:
            try:
                self._run.submit(prompt, self._stop_ids)
            except ShadowvizError as error:
                if not taken:
                    raise
                words = f"{len(taken)} of {len(prompts)} requests taken; then: {error}"
                return Answer(id=number, taken=False, words=printable(words), requests=tuple(taken))
            self._busy = True
            taken.append(prompt.id)
        return Answer(id=number, requests=tuple(taken))

    def _prompt(self, line: dict[str, Any]) -> PromptRequest:
        return to_request(decode_line(msgspec.json.encode(line)), self._fresh_name("typed"), self._tokenizer)

    def _named(self, prompt: PromptRequest) -> PromptRequest:
        """A prompt of plain text has no id of its own, so that a second one would be refused."""
        if prompt.id != "text":
            return prompt
        return replace(prompt, id=self._fresh_name("text"))

    def _fresh_name(self, stem: str) -> str:
        self._num_named += 1
        return f"{stem}-{self._num_named}"
