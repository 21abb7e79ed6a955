#compdef run_sim.py pessim
_run_sim_completion() {
    if [[ ${words[1]:t} == python* && ${words[2]:t} != run_sim.py ]]; then
        _files
        return
    fi
    eval $(env _TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" @VARIABLE@=complete_zsh @CALL@ 2>/dev/null)
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _run_sim_completion run_sim.py pessim
(( $+_comps[python] )) || compdef _run_sim_completion python python3
