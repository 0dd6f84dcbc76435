import ArgumentParser
import Market
import Recordings
import Wire

/// The options of commands that read recordings.
struct RecordingFilesOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The recordings.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(help: "Print one JSON object a file.")
    var json = false

    /// Prints what recordings hold and what is wrong with them.
    ///
    /// - Throws: after all descriptions, if a file is unreadable, or damaged and `isCheck` is set.
    func describe(isCheck: Bool, against venue: VenueCheck? = nil) async throws {
        var broken: [String] = []
        var unread: [String] = []
        var run = RecordingRun()
        var check = CompletenessCheck(keepsLines: venue != nil)
        var hours: [CompletenessHour] = []
        var differing: [String] = []
        for named in self.files {
            // A file that has been compressed is found under its former name, as in all other commands.
            let file = SegmentNames.present(named)
            do throws(RecordingFailure) {
                let (findings, trades, completeness) = try isCheck ? Self.check(file, &check) : Self.look(file)
                if !findings.isIntact { broken.append(file) }
                if !completeness.differences.isEmpty { differing.append(file) }
                if completeness.isContinuation {
                    let names = Set(completeness.hours.map { [$0.symbol, "\($0.start)"] })
                    hours.removeAll { names.contains([$0.symbol, "\($0.start)"]) }
                }
                hours += completeness.hours
                run.add(file, findings)
                if self.json {
                    Console.print(json: FindingsJSON.line(file, findings, trades, completeness))
                } else {
                    for line in FindingsText.lines(file, findings, trades, isCheck: isCheck) { Console.print(line) }
                    for line in CompletenessText.lines(completeness) { Console.print(line) }
                }
            } catch {
                // The other files may still be readable.
                unread.append(error.description)
            }
        }
        let holes = isCheck ? run.holes : []
        for hole in holes { Console.printError(hole) }
        var failures = unread
        if isCheck, !broken.isEmpty {
            failures.append(
                "damaged: \(broken.joined(separator: ", ")); `tickertape recording repair FILE NEW-FILE` saves the rest"
            )
        }
        if !differing.isEmpty {
            let files = differing.joined(separator: ", ")
            failures.append("the frames of \(files) are not those of the completeness lines")
        }
        if !holes.isEmpty { failures.append("files do not follow each other") }
        if let venue, let lines = check.tradeLines {
            let (found, failure) = await venue.compare(hours, lines: lines)
            self.print(found)
            if let failure { failures.append(failure) }
            if found.contains(where: \.differs) { failures.append("the venue has other trades than the recording") }
            if found.isEmpty, failure == nil { failures.append("no file has trades with ids to compare") }
        }
        if !failures.isEmpty { throw OperatorError(failures.joined(separator: "; "), status: .failure) }
    }

    private func print(_ found: [(line: String, differs: Bool)]) {
        guard self.json else {
            for hour in found { Console.print(hour.line) }
            return
        }
        let object = JSONWriter.object { out in
            out.array("againstVenue") { out in
                for hour in found {
                    out.element { out in
                        out.field("differs", hour.differs)
                        out.field("text", hour.line)
                    }
                }
            }
        }
        Console.print(json: String(buffer: object))
    }

    private static func check(
        _ file: String,
        _ check: inout CompletenessCheck
    ) throws(RecordingFailure) -> (RecordingFindings, [String: Int], CompletenessCheck.Findings) {
        let (findings, completeness) = try RecordingCheck.check(file, &check)
        return (findings, [:], completeness)
    }

    /// Finds the same as a check, and the number of trades of each symbol, which takes a read of every frame.
    private static func look(
        _ file: String
    ) throws(RecordingFailure) -> (RecordingFindings, [String: Int], CompletenessCheck.Findings) {
        var reader = FrameReader()
        var table = SymbolTable()
        var trades: [Trade] = []
        var counts: [Int] = []
        let findings = try RecordingCheck.check(file) { line in
            guard case .frame(let frame, _, let dialect) = line.content else { return }
            _ = reader.read(frame, of: dialect, symbols: &table, into: &trades)
            while counts.count < table.count { counts.append(0) }
            for trade in trades { counts[Int(trade.symbol.index)] += 1 }
            trades.removeAll(keepingCapacity: true)
        }
        let tradesOf = Dictionary(uniqueKeysWithValues: zip(table.names, counts))
        return (findings, tradesOf, CompletenessCheck.Findings())
    }
}
