import Glibc
import Market
import Testing
import TickertapeTesting
@testable import Platform
@testable import Terminal

@Suite("Printing each price once")
struct FreshPriceWaitTests {
    private func gate(_ symbols: [String]?) -> FreshPriceWait {
        FreshPriceWait(
            .init(within: 15 * oneSecond, freshFor: 30 * oneSecond, symbols: symbols),
            status: sampleStatus(.connecting),
            now: 0
        )
    }

    private func price(_ symbol: String, at: Int64) -> LineItem {
        .price(PriceUpdate(summary: sampleSummary(symbol), skipped: 0), arrived: at)
    }

    @Test("each wanted symbol is printed once, and then it is over")
    func once() {
        var gate = self.gate(["A", "B"])
        #expect(gate.took(self.price("C", at: 0), now: 1) == false)
        #expect(gate.took(self.price("A", at: 0), now: 1) == true)
        #expect(gate.took(self.price("A", at: 1), now: 2) == false)
        #expect(!gate.isOver(now: 3))
        #expect(gate.took(self.price("B", at: 3), now: 3) == true)
        #expect(gate.isOver(now: 3) && gate.report(now: 3) == nil)
    }

    @Test("a price that was there before counts as long as it is fresh")
    func snapshots() {
        var gate = self.gate(nil)
        #expect(gate.took(.status(sampleStatus(.live)), now: 0) == false)
        let update = PriceUpdate(summary: sampleSummary("A"), skipped: 0)
        // The set of symbols is unknown, but this is one of them.
        #expect(gate.took(.snapshot(update, arrived: -29 * oneSecond), now: 0) == true)
        #expect(!gate.isOver(now: 1))
        #expect(gate.took(.expected(["A", "B"]), now: 1) == false)
        let old = PriceUpdate(summary: sampleSummary("B"), skipped: 0)
        #expect(gate.took(.snapshot(old, arrived: -120 * oneSecond), now: 1) == false)
        #expect(!gate.isOver(now: 15 * oneSecond - 1) && gate.isOver(now: 15 * oneSecond))
        #expect(
            gate.report(now: 15 * oneSecond) == "no fresh price within 15 s of B (its newest trade is 2m00s old)"
        )
    }

    private func refused(_ symbol: String) -> LineItem {
        .symbol(
            SymbolStatus(
                symbol: symbol,
                state: .refused(.noSuchSymbol, retryAt: 9),
                since: 0,
                reason: "Invalid symbol \(symbol)"
            )
        )
    }

    @Test(
        "a refused symbol is not waited for: the run ends after the others, with a hint at the probable name"
    )
    func refusedSymbol() {
        var gate = self.gate(["A", "BINANC:BTCUSDT"])
        _ = gate.took(self.refused("BINANC:BTCUSDT"), now: 1)
        #expect(!gate.isOver(now: 2))
        #expect(gate.took(self.price("A", at: 2), now: 2) == true)
        #expect(gate.isOver(now: 2))
        #expect(
            gate.report(now: 2) == "no fresh price of BINANC:BTCUSDT (Invalid symbol BINANC:BTCUSDT; "
                + "did you mean BINANCE:BTCUSDT?)"
        )
        var alone = self.gate(["X"])
        _ = alone.took(self.refused("X"), now: 1)
        #expect(alone.isOver(now: 1) && alone.report(now: 1) == "no fresh price of X (Invalid symbol X)")
    }

    @Test("among symbols that were not named, a refused one is no failure")
    func refusedBesideAll() {
        var gate = self.gate(nil)
        _ = gate.took(.expected(["A", "FOO:BAR"]), now: 0)
        _ = gate.took(self.refused("FOO:BAR"), now: 1)
        #expect(!gate.isOver(now: 1))
        #expect(gate.took(self.price("A", at: 2), now: 2) == true)
        #expect(gate.isOver(now: 2) && gate.report(now: 2) == nil)
        var none = self.gate(nil)
        _ = none.took(.expected(["FOO:BAR"]), now: 0)
        _ = none.took(self.refused("FOO:BAR"), now: 1)
        #expect(none.isOver(now: 1) && none.report(now: 1)?.contains("FOO:BAR (Invalid symbol FOO:BAR)") == true)
    }

    @Test("the report names the symbols that are missing, and why")
    func reports() {
        let end = 15 * oneSecond
        var gate = self.gate(["A", "B"])
        #expect(gate.report(now: end) == "no fresh price within 15 s of A (connecting), B (connecting)")
        let lost = sampleStatus(
            .reconnecting(attempt: 1, retryAt: sampleNoon.wall - 9 * oneSecond),
            reason: "refused\u{1B}"
        )
        _ = gate.took(.status(lost), now: 1)
        #expect(gate.report(now: end)?.contains("A (reconnecting, attempt 1 in 0 ms: refused␛)") == true)
        _ = gate.took(.status(sampleStatus(.live)), now: 2)
        let refused = SymbolStatus(
            symbol: "B",
            state: .refused(.noSuchSymbol, retryAt: 0),
            since: 0,
            reason: "Invalid symbol B"
        )
        _ = gate.took(.symbol(refused), now: 2)
        #expect(
            gate.report(now: end) == "no fresh price within 15 s of A (it has not traded), B (Invalid symbol B)"
        )
        #expect(gate.report(now: 5)?.hasPrefix("no fresh price before the end of A") == true)
        #expect(self.gate((1...7).map { "S\($0)" }).report(now: end)?.hasSuffix("S5 (connecting), 2 more") == true)
        var empty = self.gate(nil)
        _ = empty.took(.expected([]), now: 1)
        #expect(
            empty.report(now: end) == "no fresh price within 15 s: the relay has no symbol; name one with --symbol"
        )
    }
}

@Suite("An output that ends by itself", .serialized)
struct OncePrinterTests {
    private func run(
        _ format: OutputFormat,
        within: Int64 = 60 * oneSecond,
        _ play: (LinePrinter) -> Void
    ) async throws -> (OutputEnd, output: String, errors: String) {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        var errors: [Int32] = [-1, -1]
        try #require(pipe(&errors) == 0)
        var settings = LinePrinter.Settings(format: format)
        settings.symbols = ["A", "B"]
        settings.once = .init(within: within, freshFor: oneSecond * 30, symbols: ["A", "B"])
        let printer = try LinePrinter(settings, status: sampleStatus(), output: ends[1], errors: .pipe(errors[1]))
        play(printer)
        let cause = await printer.run()
        close(ends[1])
        close(errors[1])
        defer {
            close(ends[0])
            close(errors[0])
        }
        return (
            cause, await Reading(descriptor: ends[0]).until { _ in false },
            await Reading(descriptor: errors[0]).until { _ in false }
        )
    }

    private func print(_ symbols: String..., on printer: LinePrinter) {
        for symbol in symbols {
            printer.print(
                .price(PriceUpdate(summary: sampleSummary(symbol), skipped: 0), arrived: SystemClock.monotonic())
            )
        }
    }

    @Test("prints each symbol once, nothing else, and ends by itself")
    func complete() async throws {
        let (cause, output, errors) = try await self.run(.plain) { printer in
            printer.print(.status(sampleStatus(.waiting)))
            self.print("A", "A", "C", "B", "B", on: printer)
        }
        #expect(cause == .stopped)
        #expect(output.split(separator: "\n").map { $0.split(separator: " ")[1] } == ["A", "B"])
        #expect(errors == "")
    }

    @Test("a status bar gets one line with all symbols")
    func oneline() async throws {
        let (cause, output, _) = try await self.run(.oneline) { self.print("A", "B", on: $0) }
        #expect(cause == .stopped)
        // A slow machine makes them older.
        let ages = output.replacing(#/ [0-9]+ s\b/#, with: " 0 s")
        #expect(ages == "A 61837.63 +0.02% session 0 s | B 61837.63 +0.02% session 0 s | live\n")
    }

    @Test("prints prices and reports missing ones after the time limit or a stop", arguments: [true, false])
    func missed(_ isStopped: Bool) async throws {
        let (cause, output, _) = try await self.run(.json, within: isStopped ? 60 * oneSecond : 2 * oneSecond) {
            printer in
            self.print("A", on: printer)
            if isStopped { printer.stop() }
        }
        #expect(output.split(separator: "\n").count == 1)
        let time = isStopped ? "before the end" : "within 2 s"
        #expect(cause == .missed("no fresh price \(time) of B (it has not traded)"))
    }
}
