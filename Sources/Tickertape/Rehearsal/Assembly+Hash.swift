import Feeds
import Market
import NIOCore
import Wire

extension Assembly {
    /// Prints a digest of every output of a replay on virtual time.
    ///
    /// - Parameters:
    ///   - symbols: those to ask for; none means the recording's.
    ///   - rules: the alerts that were set by flag.
    ///   - isJSON: whether it is printed as one JSON object.
    package static func hash(
        _ order: ReplayOrder,
        symbols: [String],
        rules: [String],
        isJSON: Bool
    ) async throws {
        var hash = ReplayHash(recording: try OperatorError.opening(recording: order.recording))
        hash.replay.machine.speed = order.speed.factor
        try order.part.apply(to: &hash.replay, recording: hash.recording)
        hash.symbols = symbols
        try RecordedSymbols.check(symbols, in: hash.recording)
        hash.rules = try rules.map { rule in
            do throws(AlertRule.Misfit) {
                return try AlertRule(rule)
            } catch {
                throw OperatorError("--alert \"\(rule)\": \(error)", status: .usage)
            }
        }
        let outputs = try await hash.run().outputs
        InnerReplay.tell(hash.recording)
        guard isJSON else {
            for output in outputs { Console.print("\(output.digest)  \(output.name)") }
            return
        }
        let object = JSONWriter.object { out in
            for output in outputs {
                out.object(named: output.name) { out in
                    out.field("sha256", output.digest)
                    out.field("bytes", output.count)
                }
            }
        }
        Console.print(json: String(buffer: object))
    }
}
