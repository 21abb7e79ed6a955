_run_sim_completion() {
    local IFS=$'\n'
    if [[ ${1##*/} == python* && ${COMP_WORDS[1]##*/} != run_sim.py ]]; then
        return 0
    fi
    local typed="${COMP_LINE:0:${COMP_POINT:-0}}"
    typed=${typed##* }
    COMPREPLY=($(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" \
        @VARIABLE@=complete_bash @CALL@ 2>/dev/null))
    if [[ $typed == *=* && $COMP_WORDBREAKS == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${typed%%=*}="}")
    fi
    if [[ ${COMPREPLY[0]} == *[=/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}
complete -o default -F _run_sim_completion run_sim.py pessim
for _run_sim_python in python python3; do
    complete -p "$_run_sim_python" >/dev/null 2>&1 ||
        complete -o default -F _run_sim_completion "$_run_sim_python"
done
unset _run_sim_python
