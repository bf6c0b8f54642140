"""The engine as a state machine that Hypothesis drives and shrinks: no order of calls changes an output."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.sinks import MemorySink
from shadowviz_engine.core.snapshot import state_digest
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request

STEM = tuple((37 * i + 11) % 512 for i in range(120))

SWITCHES = st.fixed_dictionaries(
    {
        "resume": st.sampled_from(("page", "any")),
        "retention": st.sampled_from(("all", "window", "every:24", "forks")),
        "match_mode": st.sampled_from(("partial", "classic")),
        "num_full_pages": st.integers(9, 20),
        "num_swa_pages": st.integers(2, 9),
        "chunk_tokens": st.sampled_from((5, 16, 50, 200)),
        "max_running": st.integers(1, 4),
        "idle_ttl_s": st.sampled_from((0.0, 10.0)),
    }
)


def machine_for(small_model, oracle, hand_clock) -> type[RuleBasedStateMachine]:
    """A machine over engines that share `small_model`."""

    class EngineMachine(RuleBasedStateMachine):
        @initialize(switches=SWITCHES)
        def start(self, switches):
            self.sink = MemorySink()
            self.clock = hand_clock()
            self.engine = Engine(EngineOptions(numerics="exact", **switches), self.sink, self.clock, small_model)
            self.requests: dict[str, Request] = {}

        @rule(
            kept=st.integers(0, len(STEM)),
            fresh=st.lists(st.integers(0, 3), max_size=8),
            max_tokens=st.integers(1, 9),
            temperature=st.sampled_from((0.0, 0.8)),
            namespace=st.sampled_from(("", "", "other")),
        )
        def submit(self, kept, fresh, max_tokens, temperature, namespace):
            request = Request(
                id=str(len(self.requests)),
                token_ids=(*STEM[:kept], *fresh) or (1,),
                max_tokens=max_tokens,
                temperature=temperature,
                namespace=namespace,
            )
            self.requests[request.id] = request
            self.engine.submit(request)

        @rule(passes=st.integers(1, 4))
        def step(self, passes):
            for _ in range(passes):
                self.engine.step()

        @precondition(lambda self: self.requests.keys() - self.engine.outputs.keys())
        @rule(data=st.data())
        def abort(self, data):
            left = [name for name in self.requests if name not in self.engine.outputs]
            self.engine.abort(data.draw(st.sampled_from(left)))

        @rule(seconds=st.sampled_from((1.0, 11.0)))
        def let_time_pass(self, seconds):
            self.clock.advance(seconds)

        @rule()
        def flush(self):
            self.engine.flush()

        @invariant()
        def books_balance(self):
            if hasattr(self, "engine"):
                self.engine.cache.check_invariants()

        def teardown(self):
            if not hasattr(self, "engine") or self.engine._failed:
                return
            while self.engine.step():
                self.engine.cache.check_invariants()
            for name, request in self.requests.items():
                output, right = self.engine.outputs[name], oracle.output(request)
                assert output.token_ids == (right[: len(output.token_ids)] if output.aborted else right)
            replayer = Replayer()
            for event in self.sink.events:
                replayer.apply(event)
            cache = self.engine.cache
            assert replayer.digest() == state_digest(cache.node_states(), cache.holder_states())
            self.engine.flush()
            assert all(pool.free_pages == pool.num_pages for pool in cache.pools())

    return EngineMachine


def test_no_order_of_calls_changes_an_output_or_upsets_the_books(small_model, oracle, clock, long_form):
    profile = settings(
        max_examples=1000 if long_form else 20,
        stateful_step_count=60 if long_form else 25,
        deadline=None,
        derandomize=not long_form,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine_for(small_model, oracle, type(clock)), settings=profile)
