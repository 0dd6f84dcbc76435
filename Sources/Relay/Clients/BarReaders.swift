import Wire

/// The subscribers of one topic, and the bars that were published to them.
struct BarReaders {
    var members: [ObjectIdentifier: any RelayProtocol] = [:]
    /// The newest published bars, by their starts.
    var reported: [Int64: PublishedBar] = [:]
    /// The start of the newest bar that was over when it was published, or before the first client subscribed.
    var overUpTo = Int64.min
}
