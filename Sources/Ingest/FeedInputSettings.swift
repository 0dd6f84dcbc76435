package import Wire

extension FeedInput {
    package struct Settings: Sendable {
        /// The name of the feed for people, in a status that stands for several feeds.
        package var name: String
        /// The handling of possible repeats: frames that come again within two seconds, and trades that come again
        /// after an interruption.
        package var repeats = RepeatHandling.marked
        /// Whether the trades come live from the market. Only live trades are compared with our clock, and only a live
        /// feed misses trades while the computer sleeps.
        package var isLive = true
        /// The marks between the frames of a replay; `nil` for a live feed.
        package var marks: FrameMarks?

        package init(name: String, repeats: RepeatHandling = .marked, isLive: Bool = true, marks: FrameMarks? = nil) {
            self.name = name
            self.repeats = repeats
            self.isLive = isLive
            self.marks = marks
        }
    }
}
