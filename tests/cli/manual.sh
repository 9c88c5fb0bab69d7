#!/bin/sh
# Help, manual pages and completions agree with each other: what one has, the others have.
. "$(dirname "$0")/lib.sh"
code=0

commands() {
    "$fathom" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'
}
# The options of a command as its help lists them.
options() {
    "$fathom" "$1" --help | sed -n 's/^ *\(-[a-z],\)* *\(--[a-z-]*\).*/\2/p'
}
plain_page() {
    sed 's/\\-/-/g; s/\\f.//g' "$top/man/$1"
}
# The options that a page has as headings of paragraphs.
options_of_page() {
    plain_page "$1" | awk 'heading { for (i = 2; i <= NF; i++) { gsub(/[",]/, "", $i); if ($i ~ /^--/) print $i } }
        { heading = /^\.TP/ }'
}
same() {
    sort "$1" >one
    sort "$2" >two
    diff one two >out
}

for command in $(commands); do
    page=fathom-$command.1
    ok "$page is there" [ -s "$top/man/$page" ]
    ok "fathom.1 names it" sh -c 'sed "s/\\\\-/-/g" "$1/man/fathom.1" | grep -q "^.BR fathom-$2 (1)"' - "$top" "$command"
    options "$command" >listed
    case $command in
    curve) continue ;; # it has the options of survey, and its page says so
    esac
    options_of_page "$page" | grep -v -x -e --help -e --version >paged
    ok "$page has the options of $command, and no other" same listed paged
done
options survey >one
options curve >two
ok "curve takes the options of survey" cmp -s one two

sed 's,/\*.*\*/,,; /^typedef/d; /^ \*/d; /^   /d' "$top/include/fathom.h" |
    sed -n 's/.*[ *]\(fathom_[a-z_]*\)(.*/\1/p' >declared
grep -o 'fathom_[a-z_]* ()' "$top/man/fathom.3" | sed 's/ ()//' | sort -u >paged
ok "fathom.3 has the functions of fathom.h, and no other" same declared paged

for page in "$top"/man/*; do
    LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>out
    ok "$(basename "$page") is set without a warning" [ ! -s out ]
done

for probe in $("$fathom" probes | awk 'NR == 1 { next } !/./ { exit } /^[a-z]/ { print $1 }'); do
    ok "docs/ tells how $probe works" grep -q -e "\`$probe\`" -e "--method $probe\`" "$top"/docs/*.md
done

# Completions, asked as the shells ask them.
"$fathom" completion bash >bash-completion
"$fathom" completion zsh >_fathom
"$fathom" completion fish >fathom.fish
cat >ask.bash <<'END'
source ./bash-completion
COMP_WORDS=(fathom "$@")
COMP_CWORD=$#
_fathom
printf '%s\n' "${COMPREPLY[@]}"
END
cat >ask.fish <<'END'
source ./fathom.fish
complete -C "$argv" | string split -f 1 \t
END
ask_zsh() {
    zsh -f "$top/tests/cli/ask.zsh" "$work" "$1"
}
export HOME=$work
commands >listed
bash ask.bash '' >offered
ok "bash: the commands" same listed offered
fish ask.fish 'fathom ' >offered
ok "fish: the commands" same listed offered
ask_zsh 'fathom ' >offered
ok "zsh: the commands" same listed offered
for command in $(commands); do
    { options "$command"; echo --help; echo --version; } >listed
    bash ask.bash "$command" -- >offered
    ok "bash: the options of $command" same listed offered
    fish ask.fish "fathom $command --" >offered
    ok "fish: the options of $command" same listed offered
    ask_zsh "fathom $command --" >offered
    ok "zsh: the options of $command" same listed offered
done
echo 'gcc clang c-header env hwloc-xml cachegrind kerncraft html' | tr ' ' '\n' >listed
bash ask.bash export x.json --to '' >offered
ok "bash: what --to takes" same listed offered
fish ask.fish 'fathom export x.json --to ' >offered
ok "fish: what --to takes" same listed offered
ask_zsh 'fathom export x.json --to ' >offered
ok "zsh: what --to takes" same listed offered
# The parser names what it would have taken.
for option in method meter format; do
    run survey "--$option" nonsense
    sed 's/.*: use \(--format \)*//; s/, or leave it out.*//; s/, / /g; s/ or / /g' err | tr ' ' '\n' >listed
    for shell in bash fish zsh; do
        case $shell in
        bash) bash ask.bash survey "--$option" '' ;;
        fish) fish ask.fish "fathom survey --$option " ;;
        zsh) ask_zsh "fathom survey --$option " ;;
        esac >offered
        ok "$shell: what --$option takes" same listed offered
    done
done
mkdir bin
ln -s "$fathom" bin/fathom
PATH=$work/bin:$PATH
"$fathom" machines | sed '1d; s/ .*//' | grep '^i' >listed
for shell in bash fish zsh; do
    case $shell in
    bash) bash ask.bash survey --machine i ;;
    fish) fish ask.fish 'fathom survey --machine i' ;;
    zsh) ask_zsh 'fathom survey --machine i' ;;
    esac >offered
    ok "$shell: the machines that are shipped" same listed offered
done
touch 'a result.json'
bash ask.bash diff 'a re' >out
ok "bash: files" has '^a result.json$'
refused "a shell we do not know" 2 "'tcsh' is no shell we know" completion tcsh

done_testing
