/// The description of a rule's state for a person.
enum AlertStateText {
    static func of(_ watchers: [AlertRuleState], offset: (Int64) -> Int64) -> String {
        let count = watchers.reduce(UInt64(0)) { $0 &+ $1.gate.count }
        let held = watchers.reduce(UInt64(0)) { $0 &+ $1.gate.heldBack }
        var parts: [String] = []
        if count > 0 { parts.append(count == 1 ? "fired once" : "fired \(count) times") }
        if watchers.count == 1, let watcher = watchers.first {
            parts.append(contentsOf: Self.parts(of: watcher, offset: offset))
        } else {
            let armed = watchers.count { $0.isArmed && !$0.gate.isDone }
            parts.append(
                watchers.isEmpty ? "waiting for the first trade" : "armed for \(armed) of \(watchers.count) symbols"
            )
        }
        if held > 0 { parts.append("held back \(held == 1 ? "once" : "\(held) times")") }
        return parts.joined(separator: ", ")
    }

    private static func parts(of watcher: AlertRuleState, offset: (Int64) -> Int64) -> [String] {
        if watcher.gate.isDone { return ["done"] }
        switch watcher.gate.hold {
        case .quiet(let until): return ["quiet until \(Self.clock(until, offset: offset, seconds: false))"]
        case .cooling(let until): return ["cools down until \(Self.clock(until, offset: offset, seconds: true))"]
        case nil: break
        }
        if watcher.silence?.isSilent == true { return ["silent"] }
        guard !watcher.isArmed else { return ["armed"] }
        return [watcher.rearmsAt.map { "armed again at \($0)" } ?? "armed again when the price comes back"]
    }

    /// Formats a time as the local time of day.
    private static func clock(_ time: Int64, offset: (Int64) -> Int64, seconds: Bool) -> String {
        let day: Int64 = 86_400_000_000_000
        let local = (time &+ offset(time)) % day
        let second = (local < 0 ? local + day : local) / 1_000_000_000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let text = "\(two(second / 3_600)):\(two(second / 60 % 60))"
        return seconds ? "\(text):\(two(second % 60))" : text
    }
}
