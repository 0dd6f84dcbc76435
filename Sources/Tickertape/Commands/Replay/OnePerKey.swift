import ArgumentParser
import MockUpstream

/// The argument of `--one-per-key`.
struct OnePerKey: Sendable, Equatable, ExpressibleByArgument {
    let rule: KeyHolders.Rule

    init?(argument: String) {
        guard let rule = KeyHolders.Rule(rawValue: argument) else { return nil }
        self.rule = rule
    }

    static var allValueStrings: [String] { KeyHolders.Rule.allCases.map(\.rawValue) }
}
