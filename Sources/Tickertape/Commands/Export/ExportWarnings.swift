import Wire

extension RecordingExport.Report {
    /// Returns the warnings about the exported rows: missing, omitted and duplicate data.
    ///
    /// - Parameter damagedParts: the number of unreadable parts of compressed files.
    func warnings(damagedParts: Int) -> [String] {
        var warnings: [String] = []
        if self.damaged > 0 {
            let lines = SystemErrorText.count(
                self.damaged,
                "line or frame cannot be read and is",
                "lines or frames cannot be read and are"
            )
            warnings.append("warning: \(lines) left out")
        }
        if damagedParts > 0 {
            let parts = SystemErrorText.count(
                damagedParts,
                "part of a compressed file cannot be read, and what was in it",
                "parts of compressed files cannot be read, and what was in them"
            )
            warnings.append("warning: \(parts) is missing")
        }
        if self.lostLines > self.damaged {
            let lines = SystemErrorText.count(self.lostLines, "line is", "lines are")
            warnings.append("warning: \(lines) missing in the recordings")
        }
        if self.lostTrades > 0 {
            let trades = SystemErrorText.count(self.lostTrades, "trade is", "trades are")
            warnings.append("warning: \(trades) missing in the recordings")
        }
        if self.unnamed > 0 {
            let rows = SystemErrorText.count(self.unnamed, "row has", "rows have")
            warnings.append("warning: \(rows) neither epoch nor number: the line that holds them is damaged")
        }
        if self.late > 0 {
            let trades = SystemErrorText.count(
                self.late,
                "trade came too late for its bar and is",
                "trades came too late for their bars and are"
            )
            warnings.append("warning: \(trades) left out")
        }
        if self.repeated > 0 {
            let trades = SystemErrorText.count(
                self.repeated,
                "trade came twice and is",
                "trades came twice and are"
            )
            warnings.append("\(trades) there once")
        }
        if self.possibleRepeats > 0 {
            let trades = SystemErrorText.count(
                self.possibleRepeats,
                "trade may have come before and is",
                "trades may have come before and are"
            )
            warnings.append("\(trades) there, marked")
        }
        if self.mayRepeat {
            warnings.append("warning: the recordings are in too many pieces: what came twice may be there twice")
        }
        return warnings
    }
}
