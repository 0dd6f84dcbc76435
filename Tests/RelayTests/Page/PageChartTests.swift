import Testing
import TickertapeTesting

/// The chart's files that only compute, and `plot.js` with a canvas that records, run by node.
@Suite(
    "The page's chart",
    .timeLimit(.minutes(2 * Patience.factor)),
    .enabled(if: pageNode != nil, "no node here: scripts/setup --tests installs Debian's package")
)
struct PageChartTests {
    private static let start = """
        import { BarSeries } from "./bars.js";
        const s = 30_000_000 * 60_000;
        const bar = (second, more) => ({ start: s + second * 1000, open: "1.10", high: "3", low: "1", close: "2", volume: "7", incomplete: false, ...more });
        const series = new BarSeries(1000);
        const all = () => series.bars.map(({ start, texts }) => `${(start - s) / 1000}:${texts.close}:${texts.volume}`).join(" ");
        const spans = (list) => list.map(({ from, to, lost }) => `${from - s}..${to - s}:${lost}`).join(" ");

        """

    @Test("has the relay's bars with the relay's own numbers, and drops what is no bar")
    func bars() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                series.takeAnswer([bar(0), bar(1, { close: "2.50" }), bar(3)], series.stamp);
                series.take(bar(4, { close: "0.10", volume: null }));
                series.take(bar(2, { close: "9" }));
                series.take(bar(3, { close: "4", incomplete: true }));
                console.log(all());
                for (const odd of [null, 7, {}, bar(9, { close: 5 }), bar(9, { open: "x" }), bar(NaN), bar(9, { high: "" }),
                    { ...bar(9), start: "9" }]) series.take(odd);
                series.takeAnswer([null, "x", bar(6), bar(5), bar(7)], series.stamp, true);
                console.log(all());
                console.log(series.place(s), series.place(s + 999), series.place(s + 1000), series.place(s + 90_000), series.nearest(s + 5_600), series.start - s, series.end - s);
                """
        )
        #expect(
            lines == [
                "0:2:7 1:2.50:7 2:9:7 3:4:7 4:0.10:null", "6:2:7 7:2:7",
                "0 0 0 2 0 6000 8000",
            ]
        )
    }

    @Test("keeps what came after a request over its answer, and bars that a newer answer does not reach are dropped")
    func answers() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                const { stamp } = series;
                series.take(bar(5, { close: "8" }));
                series.touch({ time: s + 6_100, price: "7", size: "1" });
                series.takeAnswer([bar(4), bar(5), bar(6)], stamp, true);
                console.log(all());
                series.takeAnswer([bar(1), bar(2)], series.stamp);
                console.log(all());
                series.takeAnswer([bar(6, { close: "5" }), bar(8)], series.stamp, true);
                console.log(all());
                series.takeAnswer([bar(20), bar(21)], series.stamp, true);
                console.log(all());
                """
        )
        #expect(
            lines == [
                "4:2:7 5:8:7 6:2:7", "1:2:7 2:2:7 4:2:7 5:8:7 6:2:7", "1:2:7 2:2:7 4:2:7 5:8:7 6:5:7 8:2:7",
                "20:2:7 21:2:7",
            ]
        )
    }

    @Test("keeps as many bars as the chart shows while they move on, and loads again what was left behind")
    func forgotten() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { BarHistory } from "./history.js";
            const bar = (second) => ({ symbol: "A", width: "1s", start: second * 1000, open: "1", high: "1", low: "1", close: "1", volume: "1", incomplete: false });
            const asked = [];
            let now = 100_000;
            const ask = async (target) => {
                const query = new URL(target, "http://relay").searchParams;
                asked.push(target);
                const end = Number(query.get("to") ?? now * 1000) / 1000;
                const from = Math.max(0, end - Number(query.get("limit")));
                return { bars: Array.from({ length: end - from }, (_, place) => bar(from + place)) };
            };
            const history = new BarHistory({ ask, send() {}, changed() {} });
            history.choose("A");
            history.shown = "1s";
            const load = async (length) => {
                let word = "";
                for (let turns = 0; turns < 40 && (word = history.want("1s", (now - length) * 1000, 0)) === "loading"; turns += 1) await null, await null;
                return word;
            };
            const word = await load(86_400);
            const { bars } = history.series("1s");
            let [least, most] = [Infinity, 0];
            for (const last = now + 10_800; now < last; now += 1) {
                history.take(bar(now));
                if (now === 100_000) continue;
                history.want("1s", (now - 86_400) * 1000, 0);
                const count = history.series("1s").bars.length;
                [least, most] = [Math.min(least, count), Math.max(most, count)];
            }
            console.log(JSON.stringify(word), least >= 88_300, most <= 89_400, history.rows.get("1s").isAtStart);
            const requests = asked.length;
            console.log(JSON.stringify(await load(90_000)), asked.length - requests, history.series("1s").start <= (now - 90_000) * 1000);
            // What the chart does not show stays short.
            history.shown = "1m";
            history.take(bar(now));
            console.log(history.series("1s").bars.length);
            """
        )
        #expect(lines == [#""" true true false"#, #""" 1 true"#, "2000"])
    }

    @Test("moves with each trade until the relay's bar comes, exactly and without counting a volume twice")
    func trades() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                const say = () => {
                    const { open, high, low, close, volume } = series.bars.at(-1).texts;
                    console.log(open, high, low, close, volume, series.bars.length);
                };
                series.touch({ time: s, price: "1", size: "1" });
                console.log(series.bars.length);
                series.take(bar(0));
                series.touch({ time: s + 10, price: "3.000", size: "2" });
                series.touch({ time: s + 20, price: "0.9", size: "2" });
                say();
                series.touch({ time: s + 1_010, price: "0.1", size: "0.1" });
                series.touch({ time: s + 1_020, price: "0.30", size: "0.2" });
                say();
                series.touch({ time: s - 5_000, price: "99", size: "1" });
                series.touch({ time: NaN, price: "99", size: "1" });
                series.touch({ time: s + 1_030, price: "x", size: "1" });
                say();
                series.take(bar(1, { volume: "0.5" }));
                series.touch({ time: s + 1_040, price: "2", size: "4" });
                say();
                """
        )
        #expect(
            lines == [
                "0", "1.10 3 0.9 0.9 7 1", "0.1 0.30 0.1 0.30 0.3 2", "0.1 0.30 0.1 0.30 0.3 2", "1.10 3 1 2 0.5 2",
            ]
        )
    }

    @Test("has a hole only beside an incomplete bar that no reported gap explains")
    func holes() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                series.takeAnswer([bar(0), bar(5), bar(6, { incomplete: true }), bar(9), bar(10, { incomplete: true }), bar(11)], 0);
                console.log(spans(series.holes()));
                series.take(bar(20));
                series.take(bar(30, { incomplete: true }));
                console.log(spans(series.holes()));
                const known = [{ from: s + 8_500, to: s + 9_200, lost: 3n }, { from: s + 40_000, to: s + 50_000, lost: 0n }];
                console.log(spans(series.gaps(known, s, s + 15_000)), spans(series.gaps(known, s + 15_000, s + 60_000)));
                console.log(spans(series.gaps([{ from: s + 30_100, to: s + 31_000, lost: 0n }], s + 15_000, s + 60_000)));
                series.take(bar(6));
                console.log(spans(series.holes()));
                """
        )
        #expect(
            lines == [
                "7000..9000:0", "7000..9000:0 21000..30000:0", "8500..9200:3 21000..30000:0 40000..50000:0",
                "30100..31000:0", "21000..30000:0",
            ]
        )
    }

    @Test("summarizes a day of seconds in as many columns as there are pixels, and the same as bar by bar")
    func pyramid() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { Pyramid } from "./pyramid.js";
            let seed = 7;
            const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
            const make = () => ({ low: random(), high: 1 + random(), volume: 1, incomplete: random() < 0.001 });
            let wrong = 0;
            for (const count of [0, 1, 2, 3, 5, 64, 100, 4097, 86_400]) {
                const bars = Array.from({ length: count }, make);
                const pyramid = new Pyramid(bars);
                for (let more = 0; more < 5; more += 1) {
                    bars.push(make());
                    pyramid.update(bars.length - 1);
                    const changed = Math.floor(random() * bars.length);
                    bars[changed] = make();
                    pyramid.update(changed);
                }
                for (const [first, end, most] of [[0, bars.length, 800], [3, bars.length - 1, 7], [bars.length - 2, bars.length, 800]]) {
                    const columns = pyramid.columns(first, end, most);
                    if (columns.length > most + 2) wrong += 1;
                    if (columns[0].first > first || columns.at(-1).last < end - 1) wrong += 1;
                    columns.forEach((column, at) => {
                        const of = bars.slice(column.first, column.last + 1);
                        if (column.low !== Math.min(...of.map((bar) => bar.low)) || column.high !== Math.max(...of.map((bar) => bar.high))
                            || column.volume !== of.length || column.incomplete !== of.some((bar) => bar.incomplete)
                            || (at > 0 && columns[at - 1].last + 1 !== column.first)) wrong += 1;
                    });
                }
            }
            console.log(wrong);
            """
        )
        #expect(lines == ["0"])
    }

    @Test("zooms about a place, stays near the bars, moves with now only while it shows it, and chooses bars that fit")
    func view() async throws {
        let lines = try await PagePastTests().printed(
            """
            import { widths } from "./bars.js";
            import { bounded, followed, isFollowing, moved, newest, widthFor, zoomed } from "./viewport.js";
            const say = ({ from, to }) => console.log(from, to);
            const view = newest(100_000, 1_000_000);
            say(view);
            say(zoomed(view, 929_000, 0.5));
            say(zoomed({ from: 0, to: 8_000 }, 4_000, 0.001));
            say(followed(view, 1_000_000, 1_000_250));
            say(followed(moved(view, -50_000), 1_000_000, 1_000_250));
            console.log(isFollowing(view, 1_000_000), isFollowing(moved(view, -4_001), 1_000_000), isFollowing(moved(view, 200_000), 1_000_000));
            say(bounded(moved(view, 500_000), null, 1_000_000));
            say(bounded(moved(view, -500_000), 900_000, 1_000_000));
            say(bounded(moved(view, -500_000), 990_000, 1_000_000));
            say(bounded(moved(view, -500_000), null, 1_000_000));
            for (const [span, pixels] of [[60_000, 800], [300_000, 220], [3_600_000, 800], [86_400_000, 800], [86_400_000 * 400, 800]]) console.log(widthFor(span, pixels, widths));
            """
        )
        #expect(
            lines == [
                "904000 1004000", "916500 966500", "1500 6500", "904250 1004250", "854000 954000", "true false false",
                "950000 1050000", "810000 910000", "900000 1000000", "404000 504000", "1s", "1s", "1m", "1m", "1h",
            ]
        )
    }

    @Test("labels its axes with exact prices, also on a logarithmic one, and with times of the chosen zone")
    func axes() async throws {
        let lines = try await PagePastTests().printed(
            """
            process.env.TZ = "Asia/Kolkata";
            import { priceLines, timeLines } from "./axes.js";
            import { clock, date, moment, useZone, zoneName } from "./zone.js";
            const prices = (...all) => console.log(priceLines(...all).map(({ text }) => text).join(" "));
            prices(59_990, 60_011, 5);
            prices(0.000_012, 0.000_019, 5);
            prices(-3, 3, 4);
            prices(1, 20_000, 20, true);
            prices(1e-30, 1e30, 5, true);
            prices(99, 101, 3, true);
            console.log(priceLines(1, 1, 5).length);
            const t = Date.UTC(2026, 10, 27, 18, 20);
            const times = () => console.log(timeLines(t, t + 3_600_000, 6).map(({ text, isDay }) => text + (isDay ? "!" : "")).join(" "));
            times();
            console.log(clock(t, true), date(t), moment(t), zoneName(t), `${clock(NaN)}.`);
            useZone("local");
            times();
            console.log(clock(t), date(t), moment(t), zoneName(t));
            process.env.TZ = "America/St_Johns";
            console.log(zoneName(t), zoneName(Date.UTC(2026, 6, 1)));
            process.env.TZ = "Europe/Berlin";
            const night = Date.UTC(2026, 9, 24, 12);
            console.log(timeLines(night, night + 2 * 86_400_000, 5).map(({ text }) => text).join(" "));
            """
        )
        #expect(
            lines == [
                "59,990 59,995 60,000 60,005 60,010", "0.000012 0.000014 0.000016 0.000018", "-2 0 2",
                "1 2 5 10 20 50 100 200 500 1,000 2,000 5,000 10,000 20,000",
                "0." + String(repeating: "0", count: 29) + "1 0." + String(repeating: "0", count: 17)
                    + "1 0.000001 1,000,000 1,000,000,000,000,000,000 1" + String(repeating: ",000", count: 10),
                "99 100 101", "0", "18:20 18:30 18:40 18:50 19:00 19:10 19:20",
                "18:20:00.000 2026-11-27 2026-11-27 18:20 UTC .",
                "23:50 Nov 28! 00:10 00:20 00:30 00:40 00:50", "23:50:00 2026-11-27 2026-11-27 23:50 UTC+5:30",
                "UTC−3:30 UTC−2:30", "Oct 25 12:00 Oct 26 12:00",
            ]
        )
    }

    @Test("draws no line over a gap, and its line to now only while the feed is connected")
    func line() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                globalThis.Path2D = class { moveTo() {} lineTo() {} closePath() {} };
                const { drawPlot } = await import("./plot.js");
                let path = [];
                const draw = new Proxy({ beginPath: () => (path = []), moveTo: (x) => path.push(`M${x}`), lineTo: (x) => path.push(x), measureText: () => ({ width: 9 }) },
                    { get: (target, key) => target[key] ?? (() => {}), set: () => true });
                const place = { x: (time) => (time - s) / 1000, y: () => 5, right: 99, top: 0, bottom: 90, floor: 80, spacing: 1 };
                const say = (bars, known, isFaint) => {
                    const series = new BarSeries(1000);
                    series.takeAnswer(bars, 0);
                    const view = { from: s, to: s + 99_000 };
                    const scene = { series, view, columns: series.pyramid.columns(0, series.bars.length, 900), gaps: series.gaps(known, view.from, view.to),
                        kind: "line", hasVolume: false, isFaint, now: s + 50_000 };
                    drawPlot({ draw, colours: {}, hatch: () => "" }, scene, place);
                    console.log(path.join(" "));
                };
                say([bar(0), bar(1), bar(9)], [], false);
                say([bar(0), bar(1), bar(9)], [], true);
                say([bar(0), bar(1, { incomplete: true }), bar(9)], [], true);
                say([bar(0), bar(1), bar(2)], [{ from: s + 1_500, to: s + 2_250, lost: 0n }], true);
                say([bar(0), bar(1), bar(2)], [{ from: s + 1_200, to: s + 1_300, lost: 2n }], true);
                """
        )
        #expect(
            lines == [
                "M0 0.5 1.5 9 9.5 50", "M0 0.5 1.5 9 9.5 10", "M0 0.5 1.5 M9 9.5 10", "M0 0.5 1.5 M2.25 2.5 3",
                "M0 0.5 1.5 2.5 3",
            ]
        )
    }

    @Test("is described with the relay's own numbers of the view, its incomplete bars and its gaps")
    func words() async throws {
        let lines = try await PagePastTests().printed(
            Self.start + """
                import { barWords, chartWords } from "./chart-words.js";
                import { Market } from "./market.js";
                const market = new Market();
                market.take({ type: "hello", epoch: 1, seq: 5, status: { source: "live" }, symbols: [] }, 0);
                market.choose("A");
                const view = { from: s, to: s + 60_000 };
                const say = () => console.log(chartWords(market.symbol, series, view, series.gaps(market.symbol.gaps.all, view.from, view.to), s + 30_000));
                say();
                const trade = { symbol: "A", price: "2", size: "1", time: s + 9_000, received: (s + 9_000) * 1000, seq: 5, trades: 1 };
                market.take({ ...trade, type: "snapshot", age: 0 }, 0);
                series.takeAnswer([bar(-9, { high: "99" }), bar(0), bar(1, { high: "3.25", incomplete: true }), bar(9, { low: "0.5" })], 0);
                say();
                const gap = (from, to, more) => ({ type: "gap", from: s + from, to: s + to, ...more });
                const newest = [gap(20_000, 21_000, { settled: [{ symbol: "A", from: s + 20_000, to: s + 21_000, lost: [{ count: "4" }] }] }),
                    gap(1_500, 2_500), gap(-900_000, -800_000), gap(4_000, 5_000, { symbol: "B" }), gap(null, 0)];
                market.expectHistory("A");
                market.takeHistory("A", { epoch: 1, trades: [trade] }, { gaps: { newest } });
                say();
                console.log(barWords(series.bars.at(-1), 1000, 2));
                market.takeHistory("A", null, { gaps: 7 });
                """
        )
        #expect(
            lines == [
                "Chart: no prices yet",
                "Chart of A over 30 s in bars of 1 s: now 2, lowest 0.5, highest 3.25, 1 incomplete bar, 1 gap",
                "Chart of A over 30 s in bars of 1 s: now 2, lowest 0.5, highest 3.25, 1 incomplete bar, 2 gaps (1 with lost trades)",
                "2027-01-15 08:00:09 UTC: close 2.00, open 1.10, high 3.00, low 0.50, volume 7",
            ]
        )
    }
}
