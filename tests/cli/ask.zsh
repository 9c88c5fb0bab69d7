# What zsh offers where a user presses Tab, one a line:
#
#     zsh -f ask.zsh FOLDER LINE
#
# FOLDER has the completions and is searched by an interactive zsh on a terminal of its own, into
# which the line is typed. There each match that is added for the user to choose is written down too.
zmodload zsh/zpty
home=$(mktemp -d)
waited=0
cat >$home/.zshrc <<END
fpath=($1 \$fpath)
offered=$home/offered
END
cat >>$home/.zshrc <<'END'
autoload -Uz compinit && compinit -D -u
compadd() {
    local -a matches
    # What fills variables only, or is a message, is offered to nobody.
    [[ " ${(j: :)@[1,(i)--]} " == *' -'[a-zA-Z]#[OADx]* ]] || {
        builtin compadd -A matches "$@"
        print -rl -- $matches >>$offered
    }
    builtin compadd "$@"
}
ask() {
    _main_complete
    print . >>$offered
}
zle -C ask complete-word ask
bindkey '^I' ask
END
touch $home/offered
export ZDOTDIR=$home
zpty shell zsh -i
zpty -w -n shell "$2"$'\t'
until [[ $(tail -n 1 $home/offered) == . ]] || (( waited++ > 400 )); do
    sleep 0.05
done
zpty -d shell
sed '/^\.$/d; /^$/d; s/=$//' $home/offered | sort -u
rm -rf $home
