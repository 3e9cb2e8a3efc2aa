# hostile_calls.awk: writes the calls of hostile.c from the public headers.
#
#     awk -f hostile_calls.awk hostile.h HEADER... > hostile_calls.c
#
# For every function declared with TAL_API it writes a C function that takes one value for each
# parameter, makes the call, and judges what comes back. What may be taken depends on the type alone,
# so a new function is covered by itself. What the types mean is read from the headers too: enums,
# indices, plain structs with their fields. A type that hostile.h gives values for (take_<type>,
# good_<type>) is taken from there. A type nobody knows is an error that says what to add.

function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }

# --- reading ---

/^[ \t]*#/ || continued { continued = /\\$/; next }
FILENAME ~ /hostile\.h$/ {
    rest = $0
    if (match(rest, /^OBJECT\(tal_[a-z0-9_]+/)) known["take_" substr(rest, 8, RLENGTH - 7)] = 1
    while (match(rest, /(take|good|value)_[a-z0-9_]+/)) {
        known[substr(rest, RSTART, RLENGTH)] = 1
        rest = substr(rest, RSTART + RLENGTH)
    }
    next
}
{ sub(/\/\/.*/, ""); text = text " " $0 }

# Remember what the typedefs of the headers are.
function read_types(s,    head, body, name, at) {
    while (match(s, /typedef (enum|struct) tal_[a-z0-9_]+ ?/)) {
        head = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        name = head
        sub(/^typedef (enum|struct) /, "", name)
        name = trim(name)
        if (substr(s, 1, 1) != "{") continue # an opaque type, or another name
        at = index(s, "} " name ";")
        body = substr(s, 2, at - 2)
        s = substr(s, at)
        if (head ~ /enum/) is_enum[name] = 1
        else { is_struct[name] = 1; fields_of[name] = body }
    }
}

# Remember the functions of the headers, in their order.
function read_functions(s,    one) {
    while (match(s, /(^|[^A-Za-z0-9_])TAL_API[^A-Za-z0-9_]/)) {
        s = substr(s, RSTART + RLENGTH)
        match(s, /;/)
        one = substr(s, 1, RSTART - 1)
        declaration[num_functions++] = one
        sub(/ *\(.*/, "", one)
        match(one, /[A-Za-z0-9_]+$/)
        exported[substr(one, RSTART)] = 1
    }
}

# --- fields of structs ---

# Write the rows {offset, kind, is a length} of a struct's fields, those of structs inside included.
function write_fields(type, root, path,    parts, n, i, decl, names, m, j, base, name, kind) {
    n = split(fields_of[type], parts, ";")
    for (i = 1; i <= n; i++) {
        decl = trim(parts[i])
        if (decl == "") continue
        if (decl ~ /\(/) { # a function may be missing
            if (!match(decl, /\(\*[a-z0-9_]+\)/)) continue
            name = substr(decl, RSTART + 2, RLENGTH - 3)
            printf "    {\"%s\", offsetof(%s, %s), FIELD_POINTER, 0},\n", path name, root, path name
            continue
        }
        m = split(decl, names, ",")
        base = names[1]
        gsub(/\[[^]]*\]/, "", base)
        match(base, /[A-Za-z0-9_]+ *$/)
        names[1] = trim(substr(base, RSTART)) (names[1] ~ /\[/ ? "[0]" : "")
        base = trim(substr(base, 1, RSTART - 1))
        for (j = 1; j <= m; j++) {
            name = trim(names[j])
            sub(/^\*/, "", name)
            kind = field_kind(base)
            # a text with a size has no other bytes to offer: only NULL may stand in its place
            if (kind == "FIELD_STRING" && fields_of[type] ~ /size_t size/) kind = "FIELD_POINTER"
            if (kind == "struct") write_fields(base, root, path name ".")
            else if (kind != "")
                printf "    {\"%s\", offsetof(%s, %s), %s, %d},\n", path name, root, path name, kind,
                    (name ~ /^(num_|n$|m$|nq$|nu$|count|size|capacity|rows|cols|ld|rank)/)
        }
    }
}

function field_kind(base) {
    sub(/^const /, "", base)
    if (base == "char *") return "FIELD_STRING"
    if (base ~ /\*/ || base ~ /_fn$/) return "FIELD_POINTER"
    if (base == "double") return "FIELD_DOUBLE"
    if (base == "int" || (base in is_enum)) return "FIELD_INT"
    if (base == "unsigned") return "FIELD_INT"
    if (base == "long") return "FIELD_LONG"
    if (base == "size_t" || base == "uint64_t") return "FIELD_SIZE"
    if (base == "bool") return "FIELD_BOOL"
    if (base in is_struct) return "struct"
    return ""
}

function declare_fields(type) {
    if (type in has_fields) return
    has_fields[type] = 1
    printf "static const hostile_field fields_%s[] = {\n", type
    write_fields(type, type, "")
    print "    {NULL, 0, FIELD_END, 0}};"
}

# --- values ---

# The C expression that takes a value of a type; "" when nobody knows how.
function value(type, name, array, bound,    plain, const_, good) {
    plain = type
    const_ = sub(/^const /, "", plain)
    gsub(/ /, "", plain)
    good = plain
    gsub(/\*(const)?/, "", good)
    if (array) {
        if (plain == "double") return "take_doubles(d, " const_ ")"
        if (plain == "int" && name == "levels") return "take_levels(d)"
        if (plain == "int") return "take_ints(d, " const_ ")"
        if (plain == "bool") return "take_bools(d)"
        if (plain == "char") return "take_text(d)"
        if (("take_array_" good) in known) return "take_array_" good "(d)"
        if ((plain in is_struct) || (plain in is_enum))
            return "(" type " *)take_array(d, sizeof(" plain "), " const_ ")"
        return ""
    }
    if (plain == "double") return "take_double(d)"
    if (plain == "bool") return "take_bool(d)"
    if (plain == "uint64_t") return "(uint64_t)take_size(d, false)"
    if (plain == "size_t") return "take_size(d, " bound ")"
    if (plain == "int") return "take_int(d, " (bound && is_length(name)) ")"
    if (plain == "char*" && name == "end") return "take_end(d)"
    if (plain == "char*" && name == "fmt") return "take_format(d)"
    if (plain == "char*") return "take_string(d)"
    if (plain == "void*") return const_ ? "take_bytes(d)" : (name == "self" ? "take_self(d)" : "take_bytes(d)")
    if (plain in is_enum) return "(" plain ")take_enum(d)"
    if (plain ~ /\*\*$/) return "(" type ")take_slot(d)"
    if (plain == "int*" || plain == "double*" || plain == "bool*" || plain == "size_t*" || (good in is_enum))
        return "(" type ")take_out(d, sizeof(" good "))"
    if (("value_" plain) in known) return "value_" plain "(d)"
    if (plain ~ /\*$/ && (("take_" (const_ ? "const_" : "") good) in known))
        return "take_" (const_ ? "const_" : "") good "(d)"
    if (plain ~ /\*$/ && (("take_" good) in known)) return "take_" good "(d)"
    if (plain ~ /_ix$/) used[plain] = 1
    if (plain ~ /_ix$/) return "take_ix_" plain "(d)"
    if (plain ~ /^tal_[a-z0-9_]+\*$/ && (good in is_struct)) {
        if (good ~ /_ix$/) return "(" type ")take_out(d, sizeof(" good "))"
        used[good] = 1
        return "(" type ")take_struct(d, &struct_" good ")"
    }
    return ""
}

# Does an int of this name say how many values an array holds?
function is_length(name) {
    return name ~ /^(n|m|count|capacity|size|nrhs|work_size|num_.*|order|degree|num|around|level)$/
}

# --- writing ---

function emit(line) { calls = calls line "\n" }

function write_call(decl,    head, args, result, name, n, p, i, list, type, v, array, bound, after, ending) {
    head = decl; sub(/ *\(.*/, "", head)
    args = decl; sub(/^[^(]*\( */, "", args); sub(/\) *$/, "", args)
    gsub(/[a-z_ ]+\(\*[a-z_]+\)\([^()]*\)/, "callback", args)
    match(head, /[A-Za-z0-9_]+$/)
    name = substr(head, RSTART)
    result = trim(substr(head, 1, RSTART - 1))
    n = args == "void" ? 0 : split(args, p, ",")
    bound = (args ~ /\[|void \*|const char \*text/) ? 1 : 0
    list = ""; after = ""
    emit(sprintf("\nstatic void call_%s(hostile_draw *d)\n{", name))
    if (n == 0) emit("    (void)d;")
    for (i = 1; i <= n; i++) {
        type = trim(p[i])
        if (type == "...") continue
        if (type == "callback") { # of a type without a name: what is not a callback stays hostile
            v = ("value_" name) in known ? "value_" name "(d)" : "NULL"
            list = list (i > 1 ? ", " : "") v
            continue
        }
        array = type ~ /\[/
        sub(/\[.*/, "", type)
        match(type, /[A-Za-z0-9_]+$/)
        pname[i] = substr(type, RSTART)
        type = trim(substr(type, 1, RSTART - 1))
        v = value(type, pname[i], array, bound)
        if (v == "") {
            printf "hostile_calls.awk: %s takes a '%s'; give it values in tests/api/hostile.h\n", name,
                type > "/dev/stderr"
            failed = 1
            v = "NULL"
        }
        emit(sprintf("    %s %sa%d = %s;", type, array ? "*" : "", i, v))
        if (type ~ /^tal_[a-z0-9_]+ \*\*$/) {
            ending = type
            sub(/ \*\*$/, "_destroy", ending)
            after = after sprintf("    if (a%d != NULL && *a%d != NULL) %s(*a%d);\n", i, i, ending, i)
        }
        list = list (i > 1 ? ", " : "") "a" i
    }
    emit("    hostile_begin(d);")
    if (result == "void") {
        emit(sprintf("    %s(%s);\n    hostile_end(d);", name, list))
    } else {
        emit(sprintf("    %s result = %s(%s);\n    hostile_end(d);", result, name, list))
        if (result == "tal_status") emit("    judge_status(d, result);")
        else if (result == "double") emit("    judge_double(d, result);")
        else if (result == "int") emit("    judge_int(d, result);")
        else if (result ~ /_ix$/) emit("    judge_int(d, result.i);")
        else if (result ~ /^const char \*$/) emit("    judge_string(d, result);")
        else if (name == "tal_osim_results_table") emit("    judge_pointer(d, result);") # borrowed
        else if (result ~ /^(tal_(system|matter|forces|events|table|diagnostics)) \*$/)
            emit(sprintf("    keep_%s(d, result);", substr(result, 1, length(result) - 2)))
        else if (result ~ /\*$/) emit("    judge_pointer(d, result);")
        else emit("    (void)result;")
    }
    emit(after "}")
    table = table sprintf("    {\"%s\", call_%s, %d},\n", name, name, name ~ /_destroy$/)
}

END {
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", text)
    gsub(/TAL_PRINTF\([^)]*\)/, " ", text)
    gsub(/TAL_NODISCARD/, " ", text)
    gsub(/[ \t]+/, " ", text)
    gsub(/ ;/, ";", text)
    read_types(text)
    read_functions(text)
    print "// Written by hostile_calls.awk from the public headers."
    print "#include \"hostile.h\"\n"
    for (i = 0; i < num_functions; i++) write_call(declaration[i])
    for (type in used) {
        if (type ~ /_ix$/)
            printf "static inline %s take_ix_%s(hostile_draw *d) { const %s ix = {take_index(d)}; return ix; }\n", type, type, type
        else {
            declare_fields(type)
            maker = (type "_default") in exported
            if (("good_" type) in known)
                printf "static void make_%s(void *out) { good_%s(out); }\n", type, type
            else if (maker)
                printf "static void make_%s(void *out) { const %s it = %s_default(); memcpy(out, &it, sizeof it); }\n", type, type, type
            printf "static const hostile_struct struct_%s = {\"%s\", sizeof(%s), %s, fields_%s};\n", type,
                type, type, (("good_" type) in known || maker) ? "make_" type : "NULL", type
        }
    }
    printf "%s", calls
    print "\nconst hostile_call hostile_calls[] = {"
    printf "%s    {NULL, NULL, 0}};\n", table
    if (num_functions < 100) {
        print "hostile_calls.awk: the headers declare no functions" > "/dev/stderr"
        failed = 1
    }
    exit failed
}
