#!/usr/bin/env bash
# plots.sh TALUS SOURCE_DIR
# Plots: which columns are drawn, in which panels, and in which kind of file.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# lacks FILE TEXT: the text stands nowhere in the file
lacks() {
    if grep -qF -- "$2" "$1"; then complain "'$2' is in $1"; fi
}

# lines FILE NUMBER: so many curves are drawn
lines() {
    [ "$(grep -c 'stroke-width="1.6"' "$1")" -eq "$2" ] ||
        complain "$1 has $(grep -c 'stroke-width="1.6"' "$1") curves instead of $2"
}

expect 0 simulate pendulum.talus -q -e 2 -o swing.sto

# --- the name chooses the kind of file ---
expect 0 plot swing.sto -o swing.svg
[ "$(head -c 5 swing.svg)" = '<svg ' ] || complain 'swing.svg is no SVG'
expect 0 plot swing.sto -o swing.png
[ "$(head -c 8 swing.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] ||
    complain 'swing.png is no PNG'
expect 0 plot swing.sto -o swing.pdf
[ "$(head -c 8 swing.pdf)" = '%PDF-1.4' ] || complain 'swing.pdf is no PDF'
for kind in svg png pdf; do
    expect 0 plot swing.sto -f $kind
    cmp -s out swing.$kind || complain "-f $kind is not what -o swing.$kind is"
    expect 0 plot swing.sto -o - -f $kind
    cmp -s out swing.$kind || complain "-o - -f $kind is not what -o swing.$kind is"
done
expect 0 plot swing.sto
cmp -s out swing.svg || complain 'standard output is no SVG'
for name in swing.gif swing .png/swing; do
    expect 2 plot swing.sto -o $name
    is err "talus plot: --out '$name' should end with .svg, .png or .pdf."
done
expect 2 plot swing.sto -f gif
is err "talus plot: --format 'gif' should be svg, png or pdf."

# --- the size of a PNG ---
png_size() { # FILE
    od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }'
}
expect 0 plot swing.sto --width 400 --height 300 -o small.png
[ "$(png_size small.png)" = '800 600' ] || complain "a PNG is $(png_size small.png)"
expect 0 plot swing.sto --width 400 --height 300 --scale 1 -o small.png
[ "$(png_size small.png)" = '400 300' ] || complain "a PNG is $(png_size small.png)"
expect 2 plot swing.sto --scale 11 -o small.png
has err '--scale is at most 10'
expect 2 plot swing.sto --aspect wide -o small.png
is err "talus plot: --aspect 'wide' should be auto, equal or free."

# --- what is drawn: each unit has a panel, and a column alone is named there ---
expect 0 plot swing.sto -c upper.q0,upper.u0 -o two.svg
has two.svg '>upper.q0 [rad]</text>'
has two.svg '>upper.u0 [rad/s]</text>'
lines two.svg 2
expect 0 plot swing.sto -c 'upper.*' -o stars.svg
lines stars.svg 2
expect 2 plot swing.sto -c 'uper.*'
has err "has no column 'uper.*'"

# --- degrees ---
expect 0 plot swing.sto --degrees -c '*.q0,*.u0' -o degrees.svg
has degrees.svg '>angle [°]</text>'
has degrees.svg '>angular speed [°/s]</text>'
has degrees.svg '>30</text>'

# --- round-off gets no panel, unless it is asked for ---
awk 'BEGIN { print "# talus_units=s,J,J,m,m or rad"; print "time,kinetic,total,x,position_error"
    for (i = 0; i < 50; i++) print i / 10 "," 500 + 500 * sin(i / 10) "," 1e-13 * sin(50 * i) \
        "," cos(i / 10) "," 1e-14 * cos(i) }' >round.csv
expect 0 plot round.csv -o round.svg
lacks round.svg 'total'
lacks round.svg 'position_error'
lines round.svg 2
expect 0 plot round.csv -c total -o total.svg
has total.svg '>total [J]</text>'

# --- quantities far from zero: few digits, and what they have in common is said once ---
awk 'BEGIN { print "time,far"; for (i = 0; i < 50; i++) printf "%d,%.9f\n", i, 1e6 + 1e-3 * i }' \
    >far.csv
expect 0 plot far.csv -o far.svg
has far.svg '>+ 1000000</text>'
lacks far.svg '>1000000.'

# --- with many columns: the dozen that vary most, and how to ask for others ---
awk 'BEGIN { printf "time"; for (k = 0; k < 40; k++) printf ",c%d", k; print ""
    for (i = 0; i < 50; i++) { printf "%d", i
        for (k = 0; k < 40; k++) printf ",%.9f", (1 + k % 20) * sin(i / 5 + k); print "" }
    }' >many.csv
expect 0 plot many.csv -o many.svg
lines many.svg 12
has err "talus plot: warning: these are the 12 columns that vary most, of 40. -c NAME,NAME,..."
has err "talus show many.csv -n 1 lists them"
for k in 14 15 16 17 18 19 34 35 36 37 38 39; do
    has many.svg ">c$k</text>"
done
expect 0 plot many.csv -q -o many.svg
is err ''
expect 0 plot many.csv -c '*' -o many.svg
is err ''
lines many.svg 40
expect 0 plot many.csv -c c0,c1 -o many.svg
lines many.svg 2

# --- one over another, with equal scales when both have the same unit ---
awk 'BEGIN { print "# talus_units=s,m,m,m/s"; print "time,x,y,v"
    for (i = 0; i <= 100; i++) print i "," 3 * cos(i / 10) "," sin(i / 10) "," cos(i / 10)
    }' >path.csv
# extent FILE: width over height of the first curve
extent() {
    grep 'stroke-width="1.6"' "$1" | head -1 | sed 's/.* d="M//; s/".*//; s/[LM]/ /g' | awk '{
        for (i = 1; i <= NF; i += 2) {
            if (i == 1 || $i < x0) x0 = $i; if (i == 1 || $i > x1) x1 = $i
            if (i == 1 || $(i + 1) < y0) y0 = $(i + 1); if (i == 1 || $(i + 1) > y1) y1 = $(i + 1)
        }
        print (x1 - x0) / (y1 - y0) }'
}
expect 0 plot path.csv --x x -c y -o path.svg
# points are 0.1 rad apart, and written to 0.01 pixels
near "$(extent path.svg)" 3 0.02 'a path with equal scales'
expect 0 plot path.csv --x x -c y --width 400 --height 400 -o path.svg
near "$(extent path.svg)" 3 0.02 'a path with equal scales, in a square'
expect 0 plot path.csv --x x -c y --aspect free -o path.svg
less 0.1 "$(extent path.svg | awk '{ print ($1 - 3) * ($1 - 3) }')" 'a free aspect is not equal'
expect 0 plot path.csv --x x -c v --aspect equal -o path.svg
near "$(extent path.svg)" 3 0.02 'equal scales on request'
expect 0 plot path.csv --x x -o path.svg
lacks path.svg '>time'
expect 2 plot path.csv --x nothing
has err "path.csv has no column 'nothing'"

# --- several tables: one over the other, with their names ---
expect 0 simulate pendulum.talus -q -e 2 --start lower.q0=0.3 -o other.sto
expect 0 plot swing.sto other.sto -c upper.q0 -o over.svg
lines over.svg 2
has over.svg '>swing.sto</text>'
has over.svg '>other.sto</text>'
has over.svg '>upper.q0 [rad]</text>'
expect 0 plot swing.sto other.sto -c upper.q0,lower.q0 -o over.svg
lines over.svg 4
has over.svg 'stroke-dasharray'
mkdir -p twin
cp other.sto twin/swing.sto
expect 0 plot swing.sto twin/swing.sto -c upper.q0 -o over.svg
has over.svg '>twin/swing.sto</text>'
expect 0 plot swing.sto path.csv -c upper.q0,y -o mixed.svg
lines mixed.svg 2
printf 'angle,a\n0,1\n1,2\n' >noxa.csv
expect 2 plot swing.sto noxa.csv
has err "noxa.csv has no column 'time', which is on the horizontal axis"

# --- units: in the header, in names, of markers ---
printf 'time,force [N],moment (N m),f(x)\n0,1,5,1\n1,2,6,3\n' >named.csv
expect 0 plot named.csv -o named.svg
has named.svg '>force [N]</text>'
has named.svg '>moment (N m)</text>'
has named.svg '>f(x)</text>'
expect 0 plot named.csv --json -o named.svg
has out '{"column": "force [N]", "unit": "N"'
has out '{"column": "moment (N m)", "unit": "N m"'
has out '{"column": "f(x)", "unit": ""'
expect 0 simulate pendulum.talus -q -e 0.1 -c time,q,u,udot,energy,poses,reactions -o units.sto
expect 0 plot units.sto --json -o units.svg
grep '"unit": ""' out && complain 'a column of talus simulate has no unit'

# --- gaps, lonely points, nothing at all ---
printf 'time,a,b\n0,1,nan\n1,nan,nan\n2,3,nan\n3,4,nan\n' >gaps.csv
expect 0 plot gaps.csv -c a -o gaps.svg
lines gaps.svg 1
[ "$(grep -c 'stroke-width="4.8"' gaps.svg)" -eq 1 ] || complain 'a lonely point is not a dot'
for table in 'time,a' 'time,a\n0,1' 'time\n0\n1' 'time,a\n0,nan\n1,nan'; do
    printf '%b\n' "$table" >little.csv
    for kind in svg png pdf; do
        expect 0 plot little.csv -o little.$kind
    done
    grep -q 'nan\|inf' little.svg && complain "a picture of $table has no numbers"
done

# --- JSON says what was drawn ---
expect 0 plot swing.sto --json -o swing.png
has out '"result": "swing.png"'
has out '"format": "png"'
has out '{"column": "upper.q0", "unit": "rad", "drawn": "yes"}'
expect 0 plot swing.sto --json
has out '"picture": "<svg '
expect 2 plot swing.sto --json -f png
has err '--json cannot contain a png'
expect 0 plot swing.sto --json -o - -f png
cmp -s out swing.png || complain '-o - with --json is not the picture alone'

# --- a reader of PDF agrees, if there is one ---
if command -v pdfinfo >/dev/null; then
    pdfinfo swing.pdf >info 2>&1 || complain "pdfinfo: $(head -3 info)"
    has info 'Pages:           1'
    grep -qi 'error' info && complain "pdfinfo: $(grep -i error info)"
fi
finish
