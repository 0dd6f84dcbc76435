import NIOCore
import Recordings
import Wire

/// The findings about a recording as a JSON object. Every reader of JSON can represent its numbers exactly.
enum FindingsJSON {
    static func line(
        _ file: String,
        _ findings: RecordingFindings,
        _ trades: [String: Int],
        _ completeness: CompletenessCheck.Findings
    ) -> String {
        let object = JSONWriter.object { out in
            out.field("file", file)
            out.field("intact", findings.isIntact)
            if let header = findings.header {
                out.field("version", header.version)
                out.field("program", header.program)
                out.field("symbols", header.symbols)
                if let source = header.source { out.field("source", source) }
                if let address = header.address { out.field("address", address) }
                if let epoch = header.epoch { out.field("epoch", epoch) }
                if let run = header.writerRun { out.field("run", run) }
                if let segment = header.segment { out.field("segment", segment) }
            }
            out.field("bytes", findings.bytes)
            out.field("lines", findings.lines)
            out.field("frames", findings.frames)
            if let trades = findings.trades { out.field("trades", trades) }
            if let first = findings.firstWall { out.field("firstWall", first) }
            if let last = findings.lastWall { out.field("lastWall", last) }
            if let silence = findings.longestSilence {
                out.object("longestSilence") { out in
                    out.field("ns", silence.nanoseconds)
                    out.field("at", silence.at)
                }
            }
            if !findings.dialects.isEmpty { out.counts("dialects", findings.dialects) }
            out.counts("events", findings.events)
            if !trades.isEmpty { out.counts("tradesOf", trades) }
            out.field("gaps", findings.holeCount)
            out.array("gapList") { out in for hole in findings.holes { out.element { Self.write(hole, to: &$0) } } }
            out.field("droppedFrames", findings.droppedFrames)
            out.field("repeatedFrames", findings.repeatedFrames)
            out.field("duplicateLines", findings.duplicateLines)
            out.field("missingLines", findings.missingLines)
            out.field("timesBack", findings.timesBack)
            out.field("wallsBack", findings.wallsBack)
            out.field("unknownLines", findings.unknownLines)
            out.field("wrongMarks", findings.wrongMarks)
            out.field("damagedLines", findings.damagedLines)
            out.field("damagedBytes", findings.damagedBytes)
            out.array("damage") { out in
                for damage in findings.damage {
                    out.element { out in
                        out.field("offset", damage.offset)
                        out.field("bytes", damage.length)
                        out.field("line", damage.line)
                        out.field("lines", damage.lines)
                        out.field("reason", damage.reason)
                    }
                }
            }
            out.array("packedDamage") { out in
                for damage in findings.packedDamage {
                    out.element(json: ByteBuffer(string: "[\(damage.bytes.lowerBound),\(damage.bytes.upperBound)]"))
                }
            }
            if let fault = findings.indexFault { out.field("indexFault", fault) }
            out.field("tornAt", findings.tornAt)
            out.field("ended", findings.isEnded)
            guard !completeness.hours.isEmpty || completeness.reported > 0 else { return }
            out.object("completeness") { out in
                out.array("hours") { out in
                    for hour in completeness.hours { out.element { $0.fields(of: hour, start: hour.start / 1_000) } }
                }
                out.field("reported", completeness.reported)
                out.field("uncompared", completeness.uncompared)
                out.field("differences", completeness.differences)
            }
        }
        return String(buffer: object)
    }

    private static func write(_ hole: RecordingFindings.Hole, to out: inout JSONWriter) {
        out.field("at", hole.at)
        out.field("from", hole.gap.from / 1_000)
        out.field("to", hole.gap.to / 1_000)
        out.field("reason", hole.gap.reason)
        if let symbol = hole.gap.symbol { out.field("symbol", symbol) }
        if let dropped = hole.dropped { out.field("dropped", dropped) }
    }
}

extension JSONWriter {
    /// Writes an object of numbers, sorted by their names.
    fileprivate mutating func counts(_ key: StaticString, _ counts: [String: Int]) {
        self.object(key) { out in
            for (name, count) in counts.sorted(by: { $0.key < $1.key }) { out.field(named: name, count) }
        }
    }
}
