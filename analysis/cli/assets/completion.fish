function __run_sim_ask
    env _TYPER_COMPLETE_FISH_ACTION=$argv[1] _TYPER_COMPLETE_ARGS=(commandline -cp) \
        @VARIABLE@=complete_fish @CALL@ 2>/dev/null
end
function __run_sim_is_ours
    set -l said (commandline -opc)
    string match -qr '(run_sim\.py|pessim)$' -- $said[1] $said[2]; and __run_sim_ask is-args
end
for program in run_sim.py pessim python python3
    complete --command $program --no-files --condition __run_sim_is_ours \
        --arguments '(__run_sim_ask get-args)'
end
