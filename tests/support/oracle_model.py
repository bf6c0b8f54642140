"""transformers' DeepseekV4ForCausalLM with the weights of a test's model."""

from paged_runs import Subject
from transformers import DeepseekV4Config, DeepseekV4ForCausalLM

from shadowviz_engine.model.config_json import config_to_json

_NOT_OF_TRANSFORMERS = ("architectures", "model_type", "csa_overlap")


def oracle_of(model: Subject) -> DeepseekV4ForCausalLM:
    """The oracle, eager in attention and experts, which is all it supports in every type."""
    values = {key: value for key, value in config_to_json(model.config).items() if key not in _NOT_OF_TRANSFORMERS}
    config = DeepseekV4Config(**values)
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    oracle = DeepseekV4ForCausalLM(config).eval()
    oracle.load_state_dict(model.weights, strict=True)
    return oracle
