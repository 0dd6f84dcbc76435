import Feeds
import Market
import MockUpstream
import NIOCore
import Recordings

extension Assembly {
    /// Runs the whole program on a simulated market, to its end or until it is stopped.
    static func simulate(_ order: MarketOrder, speed: ReplaySpeed, _ settings: Settings) async throws {
        EarlyStop.take()
        let run = order.run(start: WallClock.now() / 1_000_000)
        var settings = settings
        settings.finnhub.symbols = InnerReplay.first(run.market.symbols.map(\.name), settings)
        var replay = InnerReplay(
            settings: settings,
            material: .market(run),
            speed: speed.factor,
            source: .simulated(seed: order.seed, speed: speed.factor)
        )
        // As the market would: the connection is gone as long as something is missing.
        replay.hasBreaks = order.gap != nil
        try await replay.run()
    }

    /// Writes a simulated market to a new file as a recording.
    static func write(_ order: MarketOrder, to path: String) throws(OperatorError) {
        HalfFile.take()
        var bytes = 0
        do {
            let file = try OutputFile(path)
            try SimulatedRun.record(order.run(start: nil)) { piece in
                bytes += piece.readableBytes
                try file.write(piece)
            }
            try file.finish()
        } catch let failure as RecordingFailure {
            throw OperatorError(failure.description, status: .failure)
        } catch {
            throw OperatorError("cannot write \(path): \(error)", status: .failure)
        }
        Console.complain("wrote \(bytes) bytes to \(path)")
    }
}
