#!/bin/sh
# Files that are not what they should be: each a one-line error that names the file, exit 2, and
# nothing written.
. "$(dirname "$0")/lib.sh"
small=$data/good/small.yaml

# The first line of every bad file says what the complaint must name.
for file in "$data"/bad/*.yaml; do
    wants=$(sed -n '1s/^# wants: //p' "$file")
    refused "machine file: $(basename "$file" .yaml)" 2 "$(basename "$file"):[0-9]*: .*$wants" \
        survey --machine "$file"
done

leak_checked survey --machine "$small" --machine "$data/bad/deep.yaml"
ok "bad input leaks nothing" one_line_error 2 'deep.yaml'
refused "machine file that is not there" 2 'nowhere.yaml' --machine nowhere.yaml
refused "machine name that is not there" 2 'nosuchmachine' --machine nosuchmachine
refused "machine file that is a folder" 2 "$(basename "$data")" --machine "$data"
refused "the second machine is bad" 2 'nowhere.yaml' --machine "$small" --machine nowhere.yaml
yes 'junk: [' | head -c 10000000 >junk.yaml
refused "10 MB of junk" 2 'junk.yaml' --machine junk.yaml
head -c 100000 /dev/zero >zero.yaml
refused "NUL bytes alone" 2 'zero.yaml.*NUL' --machine zero.yaml
printf 'name: x' >"$(printf 'odd\033[31m\n.yaml')"
refused "name of a file with control characters" 2 'odd\\x1b\[31m\\x0a.yaml' \
    --machine "$(printf 'odd\033[31m\n.yaml')"

echo keep >old.json
refused "bad input leaves the output alone" 2 'nowhere' --machine nowhere.yaml -o old.json
ok "the old file is still there" [ "$(cat old.json)" = keep ]

run survey --machine "$small" --only cycle --record good.samples -o result.json
ok "a recording to break" [ "$code" = 0 ]
refused "replay of a file that is not there" 2 'nowhere' --replay nowhere
head -n 2 good.samples >cut.samples
refused "replay of a file cut between lines" 2 'cut.samples' --replay cut.samples
head -c "$(($(wc -c <good.samples) - 20))" good.samples >cut2.samples
refused "replay of a file cut within a line" 2 'cut2.samples' --replay cut2.samples
refused "replay of a result" 2 'result.json' --replay result.json
refused "replay of a machine file" 2 'small.yaml' --replay "$small"
: >empty.samples
refused "replay of an empty file" 2 'empty.samples' --replay empty.samples
refused "replay of NUL bytes" 2 'zero.yaml' --replay zero.yaml
refused "replay of junk" 2 'junk.yaml' --replay junk.yaml
sed '1s,fathom-recording/1,fathom-recording/9,' good.samples >newer.samples
refused "replay of a newer format" 2 'newer.samples' --replay newer.samples
refused "replay with probes that were not recorded" 2 'good.samples: .*record' --replay good.samples --only levels

done_testing
