import Market

/// The marks that must always be visible: a source other than the market, and an unchecked certificate. They shrink
/// with the screen but never disappear.
enum DisplayMarks {
    /// Returns the mark of the source, beside the status words; longest form first.
    ///
    /// - Parameter replay: the replay's position, whose speed is more current than the source's.
    static func source(_ source: FeedStatus.Source, replay: ReplayPosition? = nil) -> [String] {
        guard let word = source.mark else { return [] }
        return self.forms(of: source, word, replay) + [word, String(word.prefix(1))]
    }

    /// Returns the mark of the source for a line without the status words; it also says whether the replay plays, is
    /// paused or has ended, and how fast it plays or will play.
    static func played(_ status: FeedStatus, replay: ReplayPosition?) -> [String] {
        guard let word = status.source.mark else { return [] }
        let last = String(word.prefix(1))
        // A recording is identified by its file, so the status word is enough.
        let isRecording = if case .replay = status.source { true } else { false }
        switch status.phase {
        case .live where !status.isPaused:
            let said = isRecording ? status.spokenWord : word
            return self.forms(of: status.source, said, replay) + [said, last]
        case .live:
            let said = isRecording ? status.spokenWord : "\(word) \(status.spokenWord)"
            // A pause does not need the file or the seed.
            let pace = self.forms(of: status.source, said, replay).suffix(1)
            return pace + (isRecording ? [] : [said]) + [status.spokenWord, last]
        case .ended:
            return (isRecording ? [] : ["\(word) \(status.spokenWord)"]) + [status.spokenWord, last]
        case .connecting, .waiting, .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted, .stopped:
            return self.source(status.source, replay: replay)
        }
    }

    /// Returns the word with the speed and the name of the material.
    private static func forms(of source: FeedStatus.Source, _ word: String, _ replay: ReplayPosition?) -> [String] {
        switch source {
        case .live:
            return []
        case .demo:
            guard let replay, replay.speed != 1 else { return [] }
            return ["\(word) \(self.pace(replay.speed))"]
        case .replay(let file, let speed):
            let name = file.split(separator: "/").last.map(String.init) ?? file
            let pace = "\(word) \(self.pace(replay.map(\.speed) ?? speed))"
            return ["\(pace) \(name)", pace]
        case .simulated(let seed, let speed):
            let pace = "\(word) \(self.pace(replay.map(\.speed) ?? speed))"
            return ["\(pace), seed \(seed)", pace]
        }
    }

    static func certificate(isChecked: Bool) -> [String] {
        isChecked ? [] : ["CERTIFICATE NOT CHECKED", "CERT NOT CHECKED", "NO CERT CHECK", "!CERT", "!C"]
    }

    static func pace(_ speed: Double?) -> String {
        guard let speed else { return "max" }
        let text = "\(speed)"
        return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + "x"
    }
}
