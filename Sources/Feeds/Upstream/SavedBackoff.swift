import Market

/// The state of a ``ReconnectBackoff`` for the program's next start: how often it failed, and until when to wait.
package struct SavedBackoff: Sendable, Equatable {
    /// The format that is written; a file of any other format is rejected.
    private static let version = "tickertape-attempts 1"
    /// The longest reason kept, in Unicode scalars.
    private static let reasonLimit = 200

    /// Failures since the last good connection.
    package var failures: Int
    /// Refusals for too many attempts since the last good connection.
    package var refusals: Int
    /// Brief connections in a row.
    package var briefLives: Int
    /// The kind of the wait.
    package var kind: ReconnectBackoff.Pause.Kind
    /// When the wait began, wall clock, ns since 1970.
    package var at: Int64
    /// The length of the wait, in nanoseconds.
    package var wait: Int64
    /// The reason of the wait, in one line; it never holds a key.
    package var reason: String?
    /// When the newest attempts began, the oldest first, wall clock, ns since 1970; at most
    /// ``AttemptBudget/maximum``.
    package var recent: [Int64]
    /// Whether the program ended in good order while its connection was open. The attempt was then no failure, and only
    /// the budget delays the program that takes the key over.
    package var isHandedOver: Bool

    package init(
        failures: Int,
        refusals: Int,
        briefLives: Int,
        kind: ReconnectBackoff.Pause.Kind,
        at: Int64,
        wait: Int64,
        reason: String?,
        recent: [Int64] = [],
        isHandedOver: Bool = false
    ) {
        self.failures = failures
        self.refusals = refusals
        self.briefLives = briefLives
        self.kind = kind
        self.at = at
        self.wait = wait
        self.reason = reason
        self.recent = recent
        self.isHandedOver = isHandedOver
    }

    /// Returns the rest of the wait, in nanoseconds; `nil` if the state is too old to count.
    ///
    /// A wall clock may be set. If it was set forward, the state may count as too old; if it was set back, the wait
    /// starts again, but is never longer than it was.
    ///
    /// - Parameter now: wall clock, ns since 1970.
    package func remaining(at now: Int64, settings: ReconnectBackoff.Settings) -> Int64? {
        let wait = min(self.wait, max(settings.longest, settings.longestRetryAfter))
        guard now >= self.at else { return wait }
        let age = now - self.at
        return age > wait + settings.longest ? nil : max(0, wait - age)
    }

    /// Returns the wait of a program that starts now, in nanoseconds; `nil` if the state is too old to count.
    ///
    /// - Parameters:
    ///   - now: wall clock, ns since 1970.
    ///   - isTakeover: whether the program has waited for another one to release the key.
    package func wait(at now: Int64, isTakeover: Bool, settings: ReconnectBackoff.Settings) -> Int64? {
        guard let remaining = self.remaining(at: now, settings: settings) else { return nil }
        let budget = settings.budget.wait(after: self.recent, at: now)
        return max(isTakeover && self.isHandedOver ? 0 : remaining, budget)
    }
}

extension SavedBackoff {
    /// The content of the file: a line that names the format, then `name=value` lines.
    package var text: String {
        var lines = [
            Self.version, "failures=\(self.failures)", "refusals=\(self.refusals)", "brief-lives=\(self.briefLives)",
            "kind=\(self.kind.rawValue)", "at-ns=\(self.at)", "wait-ns=\(self.wait)",
        ]
        if !self.recent.isEmpty {
            lines.append("recent-ns=\(self.recent.map { "\($0)" }.joined(separator: ","))")
        }
        if self.isHandedOver { lines.append("handed-over=yes") }
        if let reason { lines.append("reason=\(Self.line(reason))") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Reads the content of a file; `nil` if it is damaged or of another format.
    package init?(text: String) {
        let head = "\(Self.version)\n"
        guard text.hasPrefix(head),
            let values = [Substring: Substring](namedValues: text.dropFirst(head.count))
        else { return nil }
        func number(_ name: Substring, atMost limit: Int64) -> Int64? {
            values[name].flatMap { Int64($0) }.flatMap { (0...limit).contains($0) ? $0 : nil }
        }
        guard
            let failures = number("failures", atMost: 1_000_000_000),
            let refusals = number("refusals", atMost: 1_000_000_000),
            let briefLives = number("brief-lives", atMost: 1_000_000_000),
            let kind = values["kind"].flatMap({ ReconnectBackoff.Pause.Kind(rawValue: String($0)) }),
            let at = number("at-ns", atMost: .max / 2),
            let wait = number("wait-ns", atMost: .max / 4)
        else { return nil }
        // Earlier versions had no such line.
        let recent = values["recent-ns"]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        let times = recent.compactMap { Int64($0) }.filter { (0...(.max / 2)).contains($0) }
        guard times.count == recent.count, times.count <= AttemptBudget.maximum else { return nil }
        self.init(
            failures: Int(failures),
            refusals: Int(refusals),
            briefLives: Int(briefLives),
            kind: kind,
            at: at,
            wait: wait,
            reason: values["reason"].map { Self.line(String($0)) },
            recent: times,
            isHandedOver: values["handed-over"] == "yes"
        )
    }

    private static func line(_ text: String) -> String { PrintableText.line(text, limit: Self.reasonLimit) }
}
