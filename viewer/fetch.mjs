// node fetch.mjs FOLDER: fetch the packages that package-lock.json names into FOLDER/node_modules,
// without npm: download, check the sha512 that the lock file has, unpack by tar. Packages for other
// machines are left out.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, '../build/viewer');
const registry = 'https://registry.npmjs.org';

// Bytes behind an address; follows redirections.
function download(url, hops = 5) {
    return new Promise((done, fail) => {
        const request = get(url, { timeout: 60000 }, (answer) => {
            const { statusCode, headers } = answer;
            if (statusCode >= 300 && statusCode < 400 && headers.location && hops > 0) {
                answer.resume();
                done(download(new URL(headers.location, url).href, hops - 1));
                return;
            }
            if (statusCode !== 200) {
                answer.resume();
                fail(new Error(`${url}: the server says ${statusCode}`));
                return;
            }
            const parts = [];
            answer.on('data', (part) => parts.push(part));
            answer.on('end', () => done(Buffer.concat(parts)));
            answer.on('error', fail);
        });
        request.on('timeout', () => request.destroy(new Error(`${url}: no answer in 60 s`)));
        request.on('error', fail);
    });
}

function isForThisMachine(entry) {
    const fits = (list, mine) => !list || list.includes(mine);
    return fits(entry.os, process.platform) && fits(entry.cpu, process.arch);
}

async function fetchPackage(path, entry) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const folder = join(target, path);
    const stamp = join(folder, '.integrity');
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === entry.integrity) return false;
    const file = `${name.split('/').pop()}-${entry.version}.tgz`;
    const bytes = await download(entry.resolved ?? `${registry}/${name}/-/${file}`);
    const hash = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    if (hash !== entry.integrity) {
        throw new Error(`${name} ${entry.version} is not what the lock file names: ${hash}`);
    }
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    execFileSync('tar', ['-xz', '--strip-components=1', '--no-same-owner', '-C', folder], {
        input: bytes,
    });
    writeFileSync(stamp, entry.integrity);
    return true;
}

const lock = JSON.parse(readFileSync(join(here, 'package-lock.json'), 'utf8'));
const wanted = Object.entries(lock.packages).filter(
    ([path, entry]) => path !== '' && !path.includes('@types/') && isForThisMachine(entry)
);
try {
    const fetched = await Promise.all(wanted.map(([path, entry]) => fetchPackage(path, entry)));
    const count = fetched.filter(Boolean).length;
    if (count > 0) console.log(`viewer: ${count} packages fetched`);
} catch (error) {
    console.error(`viewer: ${error.message}`);
    process.exit(1);
}
