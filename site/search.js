// Search: words are looked up in titles, names and sentences; the index is search_index.js.
(() => {
    const input = document.querySelector('.find input');
    const list = document.querySelector('.found');
    const root = document.documentElement.dataset.root;
    let entries = null;
    let on = -1;

    function load() {
        if (entries !== null) return;
        entries = [];
        const script = document.createElement('script');
        script.src = root + 'search_index.js';
        script.onload = () => { entries = window.talusIndex; show(); };
        document.head.append(script);
    }

    // Names count most, then beginnings of words; all words must be there.
    function score(entry, words) {
        const title = entry[0].toLowerCase();
        const text = entry[2].toLowerCase();
        let sum = 0;
        for (const word of words) {
            if (title === word) sum += 100;
            else if (title.startsWith(word)) sum += 40;
            else if (title.includes(word)) sum += 20;
            else if (text.includes(word)) sum += 3;
            else return 0;
        }
        return sum - title.length / 100;
    }

    function show() {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        list.replaceChildren();
        on = -1;
        if (words.length === 0) return;
        const best = entries.map((entry) => [score(entry, words), entry])
            .filter(([s]) => s > 0).sort((a, b) => b[0] - a[0]).slice(0, 12);
        for (const [, [title, address, text]] of best) {
            const link = document.createElement('a');
            const words_ = document.createElement('small');
            link.href = root + address;
            link.textContent = title;
            words_.textContent = text.slice(0, 110);
            link.append(words_);
            list.append(link);
        }
        if (best.length === 0 && entries.length > 0) {
            const none = document.createElement('p');
            none.textContent = 'Nothing has all of these words.';
            list.append(none);
        }
    }

    function move(by) {
        const links = [...list.querySelectorAll('a')];
        if (links.length === 0) return;
        on = (on + by + links.length) % links.length;
        links.forEach((link, k) => link.classList.toggle('on', k === on));
        links[on].scrollIntoView({ block: 'nearest' });
    }

    input.addEventListener('focus', load);
    input.addEventListener('input', show);
    input.addEventListener('keydown', (event) => {
        if (event.key === 'ArrowDown') move(1);
        else if (event.key === 'ArrowUp') move(-1);
        else if (event.key === 'Enter') list.querySelectorAll('a')[Math.max(on, 0)]?.click();
        else if (event.key === 'Escape') { input.value = ''; show(); input.blur(); }
        else return;
        event.preventDefault();
    });
    document.addEventListener('keydown', (event) => {
        if (event.key === '/' && document.activeElement !== input) {
            event.preventDefault();
            input.focus();
        }
    });
    document.addEventListener('click', (event) => {
        if (!event.target.closest('.find')) list.replaceChildren();
    });
    for (const block of document.querySelectorAll('main pre')) {
        const button = document.createElement('button');
        button.className = 'copy';
        button.textContent = 'Copy';
        button.addEventListener('click', async () => {
            await navigator.clipboard.writeText(block.querySelector('code').textContent);
            button.textContent = 'Copied';
            setTimeout(() => { button.textContent = 'Copy'; }, 1500);
        });
        block.append(button);
    }
    // the list of pages: open beside the text, closed on a phone
    const menu = document.querySelector('aside details');
    if (menu && window.matchMedia('(min-width: 60.01rem)').matches) menu.open = true;
})();
