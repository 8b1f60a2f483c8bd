"""Images: reading, preparation, features, classifiers and detectors of objects, boxes."""

from gnomon.neural.safetensors import read_safetensors
from gnomon.vision.anchors import make_anchors
from gnomon.vision.augmentation import Augmented, augment_images
from gnomon.vision.box_table import read_boxes
from gnomon.vision.boxes import (
    DetectionMatches,
    Detections,
    clip_boxes,
    decode_boxes,
    detection_precision,
    encode_boxes,
    iou,
    mask_iou,
    match_detections,
    non_maximum_suppression,
)
from gnomon.vision.eigenfaces import EigenfaceClassifier
from gnomon.vision.features import DigitCentering, HandFeatures, LocalHistograms, PatternDetector
from gnomon.vision.hog import HOG
from gnomon.vision.images import (
    Noisy,
    Tiles,
    add_noise,
    as_images,
    colocated_tiles,
    crop,
    five_crops,
    gray_to_rgb,
    predict_crops,
    resize,
    resize_keeping_aspect,
    rgb_to_gray,
)
from gnomon.vision.networks import (
    alexnet,
    cifar_network,
    cifar_resnet,
    inception_network,
    mnist_network,
    resnet,
    vgg,
)
from gnomon.vision.picture_folder import PictureFolder, picture_folder, picture_table, read_image
from gnomon.vision.rcnn import (
    FasterRCNNDetector,
    FastRCNNDetector,
    RCNNDetector,
    RegionProposalNetwork,
)
from gnomon.vision.rectangles import RectangleFeatures, integral_image, rectangle_features
from gnomon.vision.region_pooling import roi_pool
from gnomon.vision.regions import RegionLoss
from gnomon.vision.scenes import Scene, make_scenes, texture
from gnomon.vision.selective_search import Proposals, selective_search
from gnomon.vision.sliding_window import SlidingWindowDetector
from gnomon.vision.viola_jones import ViolaJonesDetector, vote_detections
from gnomon.vision.whitening import ImageWhitening, MeanImageSubtraction, ZCAWhitening
from gnomon.vision.yolo import YoloDetector, YoloLoss

__all__ = [
    "HOG",
    "Augmented",
    "DetectionMatches",
    "Detections",
    "DigitCentering",
    "EigenfaceClassifier",
    "FastRCNNDetector",
    "FasterRCNNDetector",
    "HandFeatures",
    "ImageWhitening",
    "LocalHistograms",
    "MeanImageSubtraction",
    "Noisy",
    "PatternDetector",
    "PictureFolder",
    "Proposals",
    "RCNNDetector",
    "RectangleFeatures",
    "RegionLoss",
    "RegionProposalNetwork",
    "Scene",
    "SlidingWindowDetector",
    "Tiles",
    "ViolaJonesDetector",
    "YoloDetector",
    "YoloLoss",
    "ZCAWhitening",
    "add_noise",
    "alexnet",
    "as_images",
    "augment_images",
    "cifar_network",
    "cifar_resnet",
    "clip_boxes",
    "colocated_tiles",
    "crop",
    "decode_boxes",
    "detection_precision",
    "encode_boxes",
    "five_crops",
    "gray_to_rgb",
    "inception_network",
    "integral_image",
    "iou",
    "make_anchors",
    "make_scenes",
    "mask_iou",
    "match_detections",
    "mnist_network",
    "non_maximum_suppression",
    "picture_folder",
    "picture_table",
    "predict_crops",
    "read_boxes",
    "read_image",
    "read_safetensors",
    "rectangle_features",
    "resize",
    "resize_keeping_aspect",
    "resnet",
    "rgb_to_gray",
    "roi_pool",
    "selective_search",
    "texture",
    "vgg",
    "vote_detections",
]
