import Market
import Recordings

/// The findings about a recording as text.
enum FindingsText {
    static func lines(
        _ file: String,
        _ findings: RecordingFindings,
        _ trades: [String: Int],
        isCheck: Bool
    ) -> [String] {
        let verdict = !findings.isIntact ? "DAMAGED" : findings.bytes == 0 ? "empty" : "intact"
        var lines = ["\(file): \(verdict)"]
        func say(_ line: String) { lines.append("  \(line)") }
        let header = findings.header
        let form = header.map { "version \($0.version)" } ?? "no header"
        say(
            "\(form)\(header?.program.map { ", written by \($0)" } ?? "")\(header?.source.map { ", \($0)" } ?? "")"
                + "\(header?.address.map { " from \($0)" } ?? "")"
        )
        if let header, !header.symbols.isEmpty { say("symbols: \(header.symbols.joined(separator: ", "))") }
        let numbered = findings.trades.map { ", \(SystemErrorText.count($0, "trade")) on the tape" } ?? ""
        say(
            "\(SystemErrorText.count(findings.lines, "line")), \(SystemErrorText.count(findings.frames, "frame"))\(numbered), "
                + "\(SystemErrorText.count(findings.bytes, "byte")) of text"
        )
        if let first = findings.firstWall, let last = findings.lastWall {
            say("from \(Self.time(first)) to \(Self.time(last))")
        }
        if let silence = findings.longestSilence {
            say("longest silence: \(Self.seconds(silence.nanoseconds)), from \(Self.seconds(silence.at)) on")
        }
        for (name, count) in findings.dialects.sorted(by: { $0.key < $1.key }) {
            say("\(SystemErrorText.count(count, "frame")) of the dialect \(name)")
        }
        for (name, count) in findings.events.sorted(by: { $0.key < $1.key }) { say("\(name): \(count)") }
        for (symbol, count) in trades.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            say("\(symbol): \(SystemErrorText.count(count, "trade"))")
        }
        for hole in findings.holes.prefix(20) {
            say("gap at \(Self.seconds(hole.at)), \(Self.seconds(hole.gap.to &- hole.gap.from)): \(hole.gap.reason)")
        }
        if findings.holeCount > 20 { say("and \(SystemErrorText.count(findings.holeCount - 20, "more gap"))") }
        let counted: [(count: Int, one: String, several: String, rest: String)] = [
            (Int(clamping: findings.droppedFrames), "frame was", "frames were", "dropped by the recorder"),
            (findings.repeatedFrames, "frame", "frames", "came again"),
            (findings.wallsBack, "time", "times", "the wall clock went back"),
            (findings.unknownLines, "line", "lines", "of an unknown kind"),
            (findings.duplicateLines, "line is", "lines are", "there twice or out of order"),
            (Int(clamping: findings.missingLines), "line is", "lines are", "missing, by their numbers"),
            (findings.timesBack, "line", "lines", "whose time goes back"),
            (
                findings.wrongMarks, "mark contradicts", "marks contradict",
                "the lines before: times are searched for in the wrong place"
            ),
            (
                findings.damagedLines, "line is", "lines are",
                "damaged (\(SystemErrorText.count(findings.damagedBytes, "byte")))"
            ),
        ]
        for found in counted where found.count > 0 {
            say("\(SystemErrorText.count(found.count, found.one, found.several)) \(found.rest)")
        }
        for damage in findings.damage.prefix(20) {
            say(
                "damage at byte \(damage.offset), line \(damage.line), \(SystemErrorText.count(damage.lines, "line")): \(damage.reason)"
            )
        }
        for part in findings.packedDamage.prefix(20) {
            say(
                part.isTail
                    ? "the compressed file is cut off: what begins at byte \(part.bytes.lowerBound) of it has no end"
                    : "damage in the compressed file, bytes \(part.bytes.lowerBound) to \(part.bytes.upperBound)"
            )
        }
        if let fault = findings.indexFault { say("\(fault): places in it are searched from its start") }
        if let torn = findings.tornAt {
            say("ends inside a line that begins at byte \(torn), as after a crash; all before it is there")
        } else if findings.header != nil, !findings.isEnded, findings.isIntact {
            say("has no last line: its recorder still runs, or was killed")
        }
        return lines
    }

    /// Formats a wall clock in µs, clamped to the range that can be written.
    private static func time(_ microseconds: Int64) -> String {
        UTCText.timestamp(max(0, min(microseconds, .max / 1_000)) * 1_000)
    }

    private static func seconds(_ nanoseconds: Int64) -> String {
        let milliseconds = nanoseconds / 1_000_000
        let rest = "\(milliseconds.magnitude % 1_000)"
        return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest) s"
    }
}
