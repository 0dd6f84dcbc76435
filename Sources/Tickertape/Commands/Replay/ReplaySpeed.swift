import ArgumentParser

/// The pace of a replay.
struct ReplaySpeed: Sendable, Equatable, ExpressibleByArgument {
    /// The factor to the recording's own pace; `nil` plays as fast as possible.
    var factor: Double?

    init(factor: Double?) {
        self.factor = factor
    }

    static let recorded = ReplaySpeed(factor: 1)
    static let max = ReplaySpeed(factor: nil)

    init?(argument: String) {
        if argument.lowercased() == "max" {
            self = .max
            return
        }
        let number = argument.hasSuffix("x") ? String(argument.dropLast()) : argument
        guard let factor = Double(number), (0.01...10_000).contains(factor) else { return nil }
        self.factor = factor
    }

    var defaultValueDescription: String { self.factor.map { "\($0)" } ?? "max" }
}
