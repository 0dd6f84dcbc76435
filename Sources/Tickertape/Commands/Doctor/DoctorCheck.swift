import NIOCore
import Wire

/// The result of one check of `tickertape doctor`: what was measured, and what to do about it.
struct DoctorCheck: Sendable, Equatable {
    /// How much a result matters, from the least to the most.
    enum State: String, Sendable, CaseIterable, Comparable {
        case ok
        /// A fact to know. Nothing has to be done.
        case note
        /// The program works, but not as well as it could, or not for long.
        case warning
        /// The program cannot do its work.
        case failure

        static func < (left: State, right: State) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The name of the check, for programs.
    var check: String
    var state: State
    /// What was measured, in one line.
    var measured: String
    /// What to do, in one line; `nil` where nothing is to be done.
    var cure: String?

    init(_ check: String, _ state: State, _ measured: String, cure: String? = nil) {
        self.check = check
        self.state = state
        self.measured = measured
        self.cure = cure
    }

    /// The column at which the words of ``line`` begin.
    static let indent = 21

    /// The line for people.
    var line: String {
        let head = Self.padded(self.state.rawValue, 8) + Self.padded(self.check, Self.indent - 8)
        return head + self.measured + (self.cure.map { "; cure: \($0)" } ?? "")
    }

    /// The line for programs: `{"check":…,"state":…,"measured":…,"cure":…}`.
    var json: String {
        String(
            buffer: JSONWriter.object { out in
                out.field("check", self.check)
                out.field("state", self.state.rawValue)
                out.field("measured", self.measured)
                out.field("cure", self.cure)
            }
        )
    }

    /// Returns the text with at least one blank after it, `width` characters at least.
    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

extension Collection<DoctorCheck> {
    /// The last line for people and the exit status; `nil` where nothing has to be done.
    var verdict: OperatorError? {
        let failures = self.count { $0.state == .failure }
        let warnings = self.count { $0.state == .warning }
        let parts = [
            failures > 0 ? SystemErrorText.count(failures, "failure") : nil,
            warnings > 0 ? SystemErrorText.count(warnings, "warning") : nil,
        ]
        let words = parts.compactMap(\.self).joined(separator: ", ")
        guard !words.isEmpty else { return nil }
        return OperatorError(words, status: failures > 0 ? .faultFound : .failure)
    }
}
