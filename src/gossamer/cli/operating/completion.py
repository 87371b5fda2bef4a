"""`gossamer completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

from typing import Literal

from gossamer.cli.common import Debug


def command(shell: Literal["bash", "fish", "zsh"], *, debug: Debug = False) -> None:
    """Print a script with which SHELL completes commands and options when you press Tab.

    For bash: `gossamer completion bash > ~/.local/share/bash-completion/completions/gossamer`.
    For zsh: `gossamer completion zsh > ~/.zfunc/_gossamer`, with `~/.zfunc` in `fpath`.
    For fish: `gossamer completion fish > ~/.config/fish/completions/gossamer.fish`.

    Parameters
    ----------
    shell
        bash, fish or zsh.
    """
    from gossamer.cli.main import command_line

    print(command_line(all_verbs=True).generate_completion(prog_name="gossamer", shell=shell))
