extension RandomAccessCollection {
    /// Returns the place of the first element that is not before something, where all that are before it come first.
    package func firstPlace(isBefore: (Element) -> Bool) -> Index {
        var (low, high) = (self.startIndex, self.endIndex)
        while low < high {
            let middle = self.index(low, offsetBy: self.distance(from: low, to: high) / 2)
            if isBefore(self[middle]) { low = self.index(after: middle) } else { high = middle }
        }
        return low
    }
}
