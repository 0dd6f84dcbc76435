import NIOCore

/// The settings of recordings and of the history.
extension Setting {
    /// The unit in which a person writes ``RecorderSettings/keepAge``, ns.
    private static let day: Int64 = 86_400_000_000_000

    static let recordFile = Setting(
        "record.file",
        \.record.file,
        Syntax.path.optional("none"),
        flags: ["record"],
        help: "Write what the service sends, with arrival times, to this file, or to a new one in this folder."
    )
    static let recordDirectory = Setting(
        "record.directory",
        \.record.directory,
        .path,
        help: "The folder in which `tickertape record` makes a file named by the time."
    )
    static let recordFlushInterval = Setting(
        "record.flush-interval",
        \.recorder.flushInterval,
        Syntax.duration.within(.milliseconds(1)...(.minutes(1))).nanoseconds,
        help: "How long a line may wait until it is written to the file."
    )
    static let recordSyncInterval = Setting(
        "record.sync-interval",
        \.recorder.syncInterval,
        Syntax.duration.within(.milliseconds(1)...(.minutes(10))).nanoseconds,
        help: "How long a written line may be lost in a power cut."
    )
    static let recordSegmentSize = Setting(
        "record.segment-size",
        \.recorder.segmentBytes,
        Syntax.size.within(64 << 10...(64 << 30)).mapped({ UInt64($0) }, { Int($0) }),
        help: "The size at which a recording goes on in another file; so it does each day at midnight UTC."
    )
    static let recordCompress = Setting(
        "record.compress",
        \.recorder.compresses,
        .flag,
        help: "Whether complete files of a recording are compressed (zstd)."
    )
    static let recordKeepDays = Setting(
        "record.keep-days",
        \.recorder.keepAge,
        Syntax.count.within(1...36_500).mapped({ Int64($0) * day }, { Int($0 / day) }).optional("all"),
        isReloadable: true,
        help: "Remove complete files of the recording that are older than this many days."
    )
    static let recordKeepSize = Setting(
        "record.keep-size",
        \.recorder.keepBytes,
        Syntax.size.within(1 << 20...(1 << 50)).mapped({ Int64($0) }, { Int($0) }).optional("all"),
        isReloadable: true,
        help: "Remove the oldest complete files of the recording when all are larger than this together."
    )

    static let historyFile = Setting(
        "history.file",
        \.history.file,
        .path,
        help: "Where bars and the index of the recordings are kept while recording: a path, auto (beside them), or off."
    )
}
