"""The file system throws no error for a file that is about to be created.

Emscripten's file system throws an error if a file does not exist, also when it is about to create it: one error for
each file of the standard library. A browser whose developer tools are open, or that a test drives, records the whole
stack of each.

Upstream: https://github.com/emscripten-core/emscripten/issues/24523 shows the errors thrown while folders are created;
https://github.com/emscripten-core/emscripten/pull/21172 reuses one error object for their cost.
"""

from __future__ import annotations

from mcpframe.kit.bundle.patches.patch import Patch, replacing

CHANGES = (
    (
        b"ops_table:null,mount(mount){",
        (
            b"ops_table:null,lacks(dir,name){return dir.node_ops===this.ops_table?.dir.node"
            b"&&!Object.hasOwn(dir.contents,name)&&!FS.mayLookup(dir)},mount(mount){"
        ),
    ),
    (
        b"try{current=FS.lookupNode(current,parts[i])}catch(e){if(e?.errno===44&&islast&&opts.noent_okay)",
        (
            b"if(islast&&opts.noent_okay&&MEMFS.lacks(current,parts[i])){return{path:current_path}}"
            b"try{current=FS.lookupNode(current,parts[i])}catch(e){if(e?.errno===44&&islast&&opts.noent_okay)"
        ),
    ),
    (
        b"if(!FS.isDir(dir.mode)){return 54}try{var node=FS.lookupNode(dir,name);return 20}",
        b"if(!FS.isDir(dir.mode)){return 54}if(!MEMFS.lacks(dir,name))try{var node=FS.lookupNode(dir,name);return 20}",
    ),
    (
        b"d+=dir;try{FS.mkdir(d,mode)}",
        b"d+=dir;if(FS.lookupPath(d,{noent_okay:true}).node)continue;try{FS.mkdir(d,mode)}",
    ),
)

PATCH = Patch("quiet_file_system", "an error is thrown for each file that is created", replacing(*CHANGES))
