import Glibc
import History
import Market
import Measurements
import NIOCore
import Relay
import Terminal
import Wire

/// The report of `tickertape status`, as text or JSON.
struct StatusReport {
    /// The most gaps that are listed for people, the newest.
    private static let listedGaps = 8

    let clock: ScreenClock
    /// The beginnings of the spans: that of the question, today, and this week; ns since 1970.
    let times: [Int64]
    let now: Int64
    /// The address of the relay that answers; `nil` if none does.
    var address: String?
    /// The answers of `/v1/status`, `/metrics`, and `/v1/uptime` for each span.
    var status: JSONTree?
    var metrics: String?
    var spans: [JSONTree?] = [nil, nil, nil]
    /// The spans as the history's file has them, if no program answers.
    private var stored: [LiveTime]?
    /// The disk of the running program, or of the settings if none answers.
    var disk: RecordingDisk?

    init(clock: ScreenClock, times: [Int64], now: Int64) {
        self.clock = clock
        self.times = times
        self.now = now
    }

    /// Reads the history from its file.
    mutating func readFile(_ path: String?) {
        guard let path, access(path, F_OK) == 0, let store = try? HistoryStore(path: path) else { return }
        defer { try? store.close() }
        self.stored = try? self.times.map { try LiveTime(from: $0, to: self.now, in: store) }
    }

    /// The live times of the spans; `nil` where no history is kept.
    private var lives: [LiveTime?] { self.stored ?? self.spans.map { $0.flatMap { LiveTime($0) } } }

    // MARK: For people

    /// - Parameter columns: the width of the terminal; `nil` without one.
    func lines(isUnicode: Bool, columns: Int? = nil) -> [String] {
        let lives = self.lives
        var lines: [String] = []
        if let live = lives[0] {
            lines.append(live.answer(self.clock))
            if live.known != nil {
                lines += LiveStrip(live, clock: self.clock, isUnicode: isUnicode, columns: columns).lines
            }
        } else {
            lines.append(self.answerWithoutHistory)
        }
        if self.status == nil { lines.append("state: no tickertape runs that could be asked") }
        lines += self.stateLines
        if let clusterLine { lines.append(clusterLine) }
        let shares = [("today", lives[1]), ("this week", lives[2])].compactMap { name, live in
            live?.share.map { "\(name) \(LiveTime.percent($0))" }
        }
        if !shares.isEmpty { lines.append("live: \(shares.joined(separator: ", "))") }
        if let live = lives[0], !live.gaps.isEmpty { lines.append(self.gaps(live)) }
        lines += self.figures
        switch self.disk {
        case .free(let folder, let bytes)?: lines.append("disk: \(Doctor.bytes(bytes)) free in \(folder)")
        case .unknown(let reason)?: lines.append("disk: not known: \(reason)")
        case nil: break
        }
        let running = self.status?["version"]?.text
        let other = running.map { $0 == tickertapeVersion ? "" : "; the running one is \($0)" } ?? ""
        lines.append("version: \(tickertapeVersion)\(other)")
        return lines
    }

    /// The first line where no history is kept: what the running program knows since its start.
    private var answerWithoutHistory: String {
        guard let status, let uptime = status["uptime"]?.number, let missed = status["gaps"]?["seconds"]?.number else {
            return "nothing is known: no tickertape answers, and there is no history"
        }
        let share = uptime > 0 ? max(0, 1 - missed / uptime) : 1
        return
            "live about \(LiveTime.percent(share)) of the time since the start "
            + "\(LiveTime.length(Int64(uptime * 1e9))) ago; earlier times need a history: record with --record"
    }

    private var stateLines: [String] {
        guard let status, let feed = status["status"] else { return [] }
        let since = feed["since"]?.integer.map {
            " since \(LiveTime.moment($0 * 1_000_000, now: self.now, self.clock))"
        }
        let reason = feed["reason"]?.text.map { ": \($0)" } ?? ""
        let source = feed["source"]?.text.map { $0 == "live" ? "" : " (\($0))" } ?? ""
        let uptime = status["uptime"]?.number.map { ", up for \(LiveTime.length(Int64($0 * 1e9)))" } ?? ""
        let address = self.address.map { ", at \($0)" } ?? ""
        return ["state: \(feed["state"]?.text ?? "unknown")\(source)\(since ?? "")\(reason)\(uptime)\(address)"]
    }

    /// The running program's part in a cluster; `nil` without one.
    private var cluster: ClusterReport? { (self.status?["cluster"]).flatMap { ClusterReport($0) } }

    private var clusterLine: String? {
        guard let cluster else { return nil }
        let state = cluster.state
        let lag = cluster.lag.map { "; lag \(ClusterState.span($0))" } ?? ""
        let losses = state.role == .edge ? "; losses: \(state.losses.words)" : ""
        let lease = state.lease.map { "; \($0.words)" } ?? ""
        let server = state.server.map { "; NATS at \($0)" } ?? "; NATS is not connected"
        return "cluster: \(state.forms.first ?? state.part)\(lag)\(losses)\(lease)\(server)"
    }

    private func gaps(_ live: LiveTime) -> String {
        let newest = live.gaps.suffix(Self.listedGaps).reversed().map { gap in
            "\(LiveTime.moment(gap.from, now: self.now, self.clock)) \(LiveTime.length(gap.length)) \(gap.reason)"
        }
        let more = live.gaps.count > newest.count ? "; \(live.gaps.count - newest.count) earlier" : ""
        return "gaps: \(newest.joined(separator: "; "))\(more)"
    }

    private var figures: [String] {
        guard let status else { return [] }
        var lines: [String] = []
        let reconnects = Self.counts(status["reconnects"])
        lines.append("reconnects: \(reconnects.isEmpty ? "none since the start" : reconnects)")
        let clients = Self.counts(status["clients"])
        lines.append("clients: \(clients.isEmpty ? "none" : clients); skipped trades: \(self.skipped ?? 0)")
        let latencies = (status["latency"]?.members ?? [:]).sorted { $0.key < $1.key }.compactMap { name, path in
            path["p50"]?.number.flatMap { median in
                path["p99"]?.number.map {
                    "\(name.replacing("_", with: " ")) \(Self.milliseconds(median)) (99 %: \(Self.milliseconds($0)))"
                }
            }
        }
        if !latencies.isEmpty { lines.append("latency: \(latencies.joined(separator: ", "))") }
        return lines
    }

    /// Formats an object of numbers as `3 (tcp 2, closed 1)`; empty if all are 0.
    private static func counts(_ object: JSONTree?) -> String {
        let counts = (object?.members ?? [:]).compactMap { name, count in count.integer.map { (name, $0) } }
            .filter { $0.1 > 0 }.sorted { $0.0 < $1.0 }
        guard !counts.isEmpty else { return "" }
        return "\(counts.reduce(0) { $0 + $1.1 }) (\(counts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")))"
    }

    private static func milliseconds(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    /// The trades that clients have skipped, by the sum of the metric.
    private var skipped: Int64? {
        guard let metrics else { return nil }
        let values = metrics.split(separator: "\n").filter { $0.hasPrefix("\(MetricName.skipped)") }.compactMap {
            line in
            line.split(separator: " ").last.flatMap { Double($0) }
        }
        return Int64(values.reduce(0, +))
    }

    // MARK: For programs

    var json: String {
        let lives = self.lives
        return String(
            buffer: JSONWriter.object { out in
                out.field("running", self.status != nil)
                out.field("relay", self.address)
                out.field("version", tickertapeVersion)
                out.field("runningVersion", self.status?["version"]?.text)
                out.field("state", self.status?["status"]?["state"]?.text)
                out.field("reason", self.status?["status"]?["reason"]?.text)
                out.field("stateSince", self.status?["status"]?["since"]?.integer)
                if let cluster { out.object("cluster") { cluster.write(to: &$0) } }
                out.field("uptime", seconds: self.status?["uptime"]?.number.map { Int64($0 * 1e9) })
                for (index, name) in ["since", "today", "week"].enumerated() {
                    if let live = lives[index] {
                        out.object(named: name) { UptimeAnswer.write(live, to: &$0) }
                    } else {
                        out.field(named: name, nil as String?)
                    }
                }
                for name in ["reconnects", "clients"] {
                    out.object(named: name) { out in
                        for (key, count) in (self.status?[name]?.members ?? [:]).sorted(by: { $0.key < $1.key }) {
                            out.field(named: key, count.integer)
                        }
                    }
                }
                out.field("skipped", self.skipped)
                out.object("latency") { out in
                    for (path, values) in (self.status?["latency"]?.members ?? [:]).sorted(by: { $0.key < $1.key }) {
                        guard case .object = values else { continue }
                        out.object(named: path) { out in
                            for key in ["p50", "p99", "max"] {
                                let microseconds = values[key]?.number.map { Int64(($0 * 1_000).rounded()) }
                                out.field(named: "\(key)Microseconds", microseconds)
                            }
                        }
                    }
                }
                if case .free(let folder, let bytes)? = self.disk {
                    out.field("disk", folder)
                    out.field("diskFree", bytes)
                } else {
                    out.field("disk", nil as String?)
                    out.field("diskFree", nil as UInt64?)
                }
            }
        )
    }
}
