/// The end of a recording, as the stand-in says it to its clients.
package enum ReplayEnd {
    /// The reason in the close frame behind the last frame of a recording.
    package static let closeReason = "end of the recording"
}
