import Feeds
import Glibc
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
        // O_EXCL: whatever is there already is somebody's evidence.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.cannotWrite(path) }
        let unfinished = UnfinishedFile(path)
        defer { withExtendedLifetime(unfinished) { _ = close(descriptor) } }
        var bytes = 0
        var isWhole = false
        // A file that is not whole would be taken for one, and be in the way of the next try.
        defer { if !isWhole { unlink(path) } }
        do {
            try SimulatedRun.record(order.run(start: nil)) { piece in
                bytes += piece.readableBytes
                try Self.append(piece, to: descriptor, path)
            }
            // What is no file on a disk, as a pipe, cannot be synced.
            guard fsync(descriptor) == 0 || errno == EINVAL else { throw Self.cannotWrite(path) }
            isWhole = true
        } catch let error as OperatorError {
            throw error
        } catch {
            throw OperatorError("cannot write \(path): \(error)", status: .failure)
        }
        Console.complain("wrote \(bytes) bytes to \(path)")
    }

    private static func append(_ piece: ByteBuffer, to descriptor: Int32, _ path: String) throws(OperatorError) {
        var rest = piece
        while rest.readableBytes > 0 {
            let written = rest.withUnsafeReadableBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                throw Self.cannotWrite(path)
            }
            rest.moveReaderIndex(forwardBy: written)
        }
    }

    private static func cannotWrite(_ path: String) -> OperatorError {
        let reason =
            errno == EEXIST ? "it exists, and a recording is never overwritten" : String(cString: strerror(errno))
        return OperatorError("cannot write \(path): \(reason)", status: .failure)
    }
}
