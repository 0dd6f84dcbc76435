import NIOCore
import Wire

// What stands in the file so that places in it are found by halving.
extension RecordingWriter {
    /// Writes how many stops there were so far, and how the wall clock went.
    mutating func mark(wall: Int64, _ monotonic: Int64) {
        var note = RecordedNote(.mark)
        note.stops = self.stops
        note.walls = self.walls
        note.offset = Int64(self.length)
        RecordingSyntax.note(note, self.stamp(wall, monotonic), into: &self.buffer)
        self.nextMark = self.length + RecordedStops.interval
    }

    /// Notes that a file begins at a wall clock, ns since 1970.
    mutating func beganWalls(_ wall: Int64) {
        self.walls = RecordedWalls(latest: RecordingSyntax.microseconds(wall))
        self.wallsInFile = self.walls
    }
}
